import * as vscode from 'vscode';
import { allFindings, hasSafeFix } from './overview';
import { cancellable } from './progress';

const fixAllKind = vscode.CodeActionKind.SourceFixAll.append('graphleak');

/**
 * Applies the safe fixes of all findings that are known, but those in closed
 * notebooks, after the user has seen them. The server makes the edits for the text of each file as it is now.
 */
export async function fixAllSafe(): Promise<void> {
  const files = new Map(
    allFindings()
      .filter(hasSafeFix)
      .map(({ uri }) => [uri.toString(), uri] as const),
  );
  const edit = await cancellable('Graphleak: collecting the safe fixes…', (token) =>
    collect([...files.values()], token),
  );
  if (edit === undefined) {
    return;
  }
  if (edit.size === 0) {
    void vscode.window.showInformationMessage('Graphleak: no finding has a safe fix.');
    return;
  }
  await vscode.workspace.applyEdit(edit, { isRefactoring: true });
}

async function collect(files: readonly vscode.Uri[], token: vscode.CancellationToken): Promise<vscode.WorkspaceEdit> {
  const all = new vscode.WorkspaceEdit();
  const done = new Set<string>();
  for (const file of files) {
    if (token.isCancellationRequested) {
      break;
    }
    const document = await documentOf(file);
    // The cells of a notebook are fixed together.
    const whole = document?.notebook?.uri.toString() ?? file.toString();
    if (document === undefined || done.has(whole)) {
      continue;
    }
    done.add(whole);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.text.uri,
      new vscode.Range(0, 0, document.text.lineCount, 0),
      fixAllKind.value,
      1,
    );
    for (const { edit, title } of actions) {
      for (const [uri, edits] of edit?.entries() ?? []) {
        for (const { range, newText } of edits) {
          all.replace(uri, range, newText, { label: title, needsConfirmation: true });
        }
      }
    }
  }
  return all;
}

/** A text document, or the first Python cell of a notebook that is open. */
async function documentOf(
  uri: vscode.Uri,
): Promise<{ readonly text: vscode.TextDocument; readonly notebook?: vscode.NotebookDocument } | undefined> {
  const notebook = vscode.workspace.notebookDocuments.find((open) =>
    open.getCells().some(({ document }) => document.uri.toString() === uri.toString()),
  );
  if (notebook === undefined) {
    // The findings of a closed notebook are in its JSON, which is no text to edit.
    return uri.path.endsWith('.ipynb') ? undefined : { text: await vscode.workspace.openTextDocument(uri) };
  }
  const cell = notebook.getCells().find(({ document }) => document.languageId === 'python');
  return cell && { text: cell.document, notebook };
}
