import * as vscode from 'vscode';
import type { DiagnoseResult, Source } from './diagnosis';
import { Logs } from './logs';
import { cancellable } from './progress';
import type { Server } from './server';
import { fixSuspect, showSuspect } from './suspects';
import type { Model, Request } from './view/messages';
import { DiagnosisPanel } from './view/panel';

/** Has the server diagnose something, shows the answer, and does what its page asks for. */
export class Diagnoser implements vscode.Disposable {
  readonly #server: Server;
  readonly #report: (error: unknown) => void;
  readonly #logs = new Logs();
  readonly #panel: DiagnosisPanel;

  constructor(server: Server, extensionUri: vscode.Uri, report: (error: unknown) => void) {
    this.#server = server;
    this.#report = report;
    this.#panel = new DiagnosisPanel(extensionUri, (request, model, panel) => {
      this.#answer(request, model, panel).catch(report);
    });
  }

  dispose(): void {
    this.#panel.dispose();
    this.#logs.dispose();
  }

  /** Diagnoses a source and shows the result. */
  async diagnose(source: Source): Promise<void> {
    if (source.kind === 'text' && source.text.trim() === '') {
      void vscode.window.showInformationMessage(`Graphleak: there is nothing to diagnose in ${source.name}.`);
      return;
    }
    const result = await cancellable('Graphleak: diagnosing…', (token) => this.ask(source, token));
    if (result !== undefined) {
      this.#panel.show({ source, result, places: result.suspects.map(nameOf) });
    }
  }

  /** Asks the server. Files are handed over by their addresses. */
  ask(source: Source, token: vscode.CancellationToken): Promise<DiagnoseResult> {
    const argument =
      source.kind === 'files'
        ? { files: source.uris }
        : { text: source.text, uri: source.document?.uri ?? source.name };
    return this.#server.execute<DiagnoseResult>('graphleak.diagnose', [argument], token);
  }

  async #answer(
    request: Exclude<Request, { kind: 'ready' }>,
    { source, result }: Model,
    panel: vscode.WebviewPanel,
  ): Promise<void> {
    const column = besides(panel);
    switch (request.kind) {
      case 'openLine':
        await this.#logs.open(source, result, request.input ?? '', request.line, column);
        break;
      case 'openSuspect':
        await showSuspect(result, request.index, column);
        break;
      case 'fix':
        await fixSuspect(result, request.index, column);
        break;
      case 'copy':
        await vscode.env.clipboard.writeText(request.text);
        break;
      case 'copyMarkdown':
        await vscode.env.clipboard.writeText(request.redacted ? result.redacted : result.markdown);
        vscode.window.setStatusBarMessage(`Graphleak: copied${request.redacted ? ', redacted' : ''}`, 3000);
        break;
      case 'runInTerminal':
        await runInTerminal(request.command);
        break;
      case 'explain':
        await vscode.commands.executeCommand('graphleak.explain', request.topic);
        break;
      case 'diagnoseAgain':
        await this.diagnose(source).catch(this.#report);
        break;
    }
  }
}

/** The name of a file to people: with its folder where the workspace has several. */
function nameOf(address: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(address));
}

/** Where to show code and logs so that the panel stays in sight. */
function besides({ viewColumn }: vscode.WebviewPanel): vscode.ViewColumn {
  return viewColumn === undefined || viewColumn === vscode.ViewColumn.One
    ? vscode.ViewColumn.Beside
    : vscode.ViewColumn.One;
}

/** Runs a command of a diagnosis, after the user has seen it, and maybe changed it. */
async function runInTerminal(command: string): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showInformationMessage('Graphleak runs no commands in a workspace that is not trusted.');
    return;
  }
  const confirmed = await vscode.window.showInputBox({
    title: 'Run in a terminal',
    prompt: 'Replace what stands for something of yours. Enter runs it, Escape does not.',
    value: command,
    ignoreFocusOut: true,
  });
  if (confirmed !== undefined && confirmed.trim() !== '') {
    const terminal = vscode.window.createTerminal('Graphleak');
    terminal.show();
    terminal.sendText(confirmed);
  }
}
