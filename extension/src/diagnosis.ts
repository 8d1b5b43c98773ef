import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { linkSuspects, previewLink, type Suspect } from './links';
import type { Server } from './server';

const scheme = 'graphleak-diagnosis';
const keptDiagnoses = 20;

/** What the server's command graphleak.diagnose returns, as far as it is read here. */
interface DiagnoseResult {
  readonly diagnosis: { readonly suspects: readonly Suspect[] };
  readonly markdown: string;
}

/** Diagnoses text from an editor and shows the result beside it. */
export class Diagnoser implements vscode.Disposable {
  readonly #server: Server;
  readonly #documents = new DiagnosisDocuments();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this.#documents);

  constructor(server: Server) {
    this.#server = server;
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** Diagnoses what is selected in the active editor, or all of it when nothing is. */
  async diagnoseSelection(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      void vscode.window.showInformationMessage(
        'Graphleak: open the log or traceback in an editor, select the failure, then run this command again.',
      );
      return;
    }
    const { document } = editor;
    const text = selectedText(editor);
    if (text.trim() === '') {
      void vscode.window.showInformationMessage('Graphleak: there is nothing to diagnose in an empty editor.');
      return;
    }
    const result = await cancellable('Graphleak: diagnosing…', (token) =>
      this.#server.execute<DiagnoseResult>('graphleak.diagnose', [{ text, uri: document.uri.toString() }], token),
    );
    if (result !== undefined) {
      const uri = this.#documents.put(document, await withLinks(result));
      await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
    }
  }
}

/** The Markdown of a diagnosis, with links to the suspects in the workspace. */
async function withLinks({ diagnosis, markdown }: DiagnoseResult): Promise<string> {
  const files = new Map<string, vscode.Uri>();
  for (const { path } of diagnosis.suspects) {
    const file = await findInWorkspace(path);
    if (file !== undefined) {
      files.set(path, file);
    }
  }
  return linkSuspects(markdown, diagnosis.suspects, ({ path, range: { start } }) => {
    const file = files.get(path);
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    return file && folder && previewLink(folder.uri.path, file.path, start.line, start.column);
  });
}

async function findInWorkspace(relative: string): Promise<vscode.Uri | undefined> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const file = vscode.Uri.joinPath(folder.uri, relative);
    try {
      await vscode.workspace.fs.stat(file);
      return file;
    } catch {
      // Look in the next folder.
    }
  }
  return undefined;
}

function selectedText(editor: vscode.TextEditor): string {
  const selections = editor.selections.filter(({ isEmpty }) => !isEmpty);
  if (selections.length === 0) {
    return editor.document.getText();
  }
  return selections
    .toSorted((a, b) => a.start.compareTo(b.start))
    .map((selection) => editor.document.getText(selection))
    .join('\n');
}

/**
 * Awaits a task, with a progress notification that can cancel it once the task
 * takes long enough for a person to wonder. Returns undefined when cancelled.
 */
async function cancellable<T>(
  title: string,
  run: (token: vscode.CancellationToken) => Promise<T>,
): Promise<T | undefined> {
  const cancellation = new vscode.CancellationTokenSource();
  try {
    const task = run(cancellation.token);
    const quick = await Promise.race([task.then(() => true), delay(300, false)]);
    if (!quick) {
      const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      await vscode.window.withProgress(options, (_, token) => {
        token.onCancellationRequested(() => {
          cancellation.cancel();
        });
        return task;
      });
    }
    return await task;
  } catch (error) {
    if (cancellation.token.isCancellationRequested) {
      return undefined;
    }
    throw error;
  } finally {
    cancellation.dispose();
  }
}

/** Read-only Markdown documents, one for each diagnosis. */
class DiagnosisDocuments implements vscode.TextDocumentContentProvider {
  readonly #contents = new Map<string, string>();
  #count = 0;

  /** Stores the diagnosis of a document and returns where to read it. */
  put(diagnosed: vscode.TextDocument, markdown: string): vscode.Uri {
    const name = path.posix.basename(diagnosed.uri.path);
    // The number makes it a new document: the preview takes it in place of the
    // one before, and never shows an old text.
    const uri = vscode.Uri.from({ scheme, path: `/Diagnosis of ${name}`, query: String(++this.#count) });
    this.#contents.set(uri.toString(), markdown);
    // A map keeps the order of insertion: the first key is the oldest diagnosis.
    const [oldest = ''] = this.#contents.keys();
    if (this.#contents.size > keptDiagnoses) {
      this.#contents.delete(oldest);
    }
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return (
      this.#contents.get(uri.toString()) ??
      'This diagnosis is no longer kept. Run *Graphleak: Diagnose Selection* on the log again.'
    );
  }
}
