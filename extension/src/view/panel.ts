import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Model, Request, Show } from './messages';

const viewType = 'graphleak.diagnosis';

/** Does what the page asks for. */
export type Handler = (request: Exclude<Request, { kind: 'ready' }>, model: Model, panel: vscode.WebviewPanel) => void;

/**
 * The panel that shows diagnoses: one at a time, beside the log. It comes back
 * with what it showed when the window is reloaded, without asking the server.
 */
export class DiagnosisPanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #root: vscode.Uri;
  readonly #handle: Handler;
  readonly #registration: vscode.Disposable;
  #shown: { readonly panel: vscode.WebviewPanel; model: Model; ready: boolean } | undefined;

  constructor(extensionUri: vscode.Uri, handle: Handler) {
    this.#root = vscode.Uri.joinPath(extensionUri, 'dist');
    this.#handle = handle;
    this.#registration = vscode.window.registerWebviewPanelSerializer(viewType, this);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#shown?.panel.dispose();
  }

  /** Shows a diagnosis in place of the one before it. */
  show(model: Model): void {
    const shown = this.#shown;
    if (shown === undefined) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
      this.#adopt(vscode.window.createWebviewPanel(viewType, titleOf(model), column), model);
      return;
    }
    shown.model = model;
    shown.panel.title = titleOf(model);
    shown.panel.reveal(undefined, false);
    if (shown.ready) {
      void shown.panel.webview.postMessage({ kind: 'show', model } satisfies Show);
    }
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: { readonly model: Model } | undefined): Promise<void> {
    if (state === undefined) {
      panel.dispose();
    } else {
      this.#adopt(panel, state.model);
    }
    return Promise.resolve();
  }

  #adopt(panel: vscode.WebviewPanel, model: Model): void {
    const shown = { panel, model, ready: false };
    this.#shown = shown;
    panel.webview.options = { enableScripts: true, localResourceRoots: [this.#root] };
    panel.webview.onDidReceiveMessage((request: Request) => {
      if (request.kind !== 'ready') {
        this.#handle(request, shown.model, panel);
        return;
      }
      shown.ready = true;
      void panel.webview.postMessage({ kind: 'show', model: shown.model } satisfies Show);
    });
    panel.onDidDispose(() => {
      if (this.#shown === shown) {
        this.#shown = undefined;
      }
    });
    panel.webview.html = this.#html(panel.webview, titleOf(model));
  }

  #html(webview: vscode.Webview, title: string): string {
    const nonce = randomBytes(16).toString('base64');
    const address = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(this.#root, name)).toString();
    return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'"
    />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="stylesheet" href="${address('view.css')}" />
    <title>${escapeHtml(title)}</title>
  </head>
  <body>
    <main></main>
    <div id="announcement" class="unseen" role="status" aria-live="polite"></div>
    <script nonce="${nonce}" src="${address('view.js')}"></script>
  </body>
</html>`;
  }
}

function titleOf({ source }: Model): string {
  return `Diagnosis of ${source.name}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
