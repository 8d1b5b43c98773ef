import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { type DiagnoseResult, documentLine, type Source } from './diagnosis';

const scheme = 'graphleak-log';
const keptTexts = 20;

/** Shows lines of what was diagnosed, whether it is a file or a text that is nowhere else. */
export class Logs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  dispose(): void {
    this.#registration.dispose();
  }

  /** Shows a line, counted from 1, of an input of a diagnosis. */
  async open(
    source: Source,
    { logs }: DiagnoseResult,
    input: string,
    line: number,
    column: vscode.ViewColumn,
  ): Promise<void> {
    const file = logs[input];
    if (file !== undefined) {
      await show(vscode.Uri.parse(file), line - 1, column);
    } else if (source.kind === 'text' && source.document !== undefined) {
      const { uri, segments } = source.document;
      await show(vscode.Uri.parse(uri), documentLine(segments, line - 1), column);
    } else if (source.kind === 'text') {
      await show(this.#put(source.name, source.text), line - 1, column);
    }
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.query) ?? 'This text is no longer kept. Diagnose it again.';
  }

  #put(name: string, text: string): vscode.Uri {
    const key = createHash('sha256').update(text).digest('hex').slice(0, 16);
    this.#texts.delete(key);
    this.#texts.set(key, plain(text));
    // A map keeps the order of insertion: the first key is the oldest text.
    const [oldest = ''] = this.#texts.keys();
    if (this.#texts.size > keptTexts) {
      this.#texts.delete(oldest);
    }
    return vscode.Uri.from({ scheme, path: `/${name.replaceAll('/', '∕')}.log`, query: key });
  }
}

/** Shows a line, counted from 0. Unlike an editor of the API, this also opens very large files. */
export async function show(uri: vscode.Uri, line: number, column: vscode.ViewColumn): Promise<void> {
  const selection = new vscode.Range(line, 0, line, 0);
  await vscode.commands.executeCommand('vscode.open', uri, { viewColumn: column, selection });
}

/** A text without the codes that colour it in a terminal. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g, '');
}
