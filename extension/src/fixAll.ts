import * as vscode from 'vscode';
import { allFindings, hasSafeFix } from './overview';
import { cancellable } from './progress';
import type { Server } from './server';

const label = 'Apply the safe fixes (Graphleak)';

/**
 * Applies the safe fixes of all findings that are known, after the user has seen
 * them. The server makes the edits for the text of each file as it is now.
 */
export async function fixAllSafe(server: Server): Promise<void> {
  const files = new Map(
    allFindings()
      .filter(hasSafeFix)
      .map(({ uri }) => [uri.toString(), uri] as const),
  );
  const closed = new Set<vscode.NotebookDocument>();
  const edit = await cancellable('Graphleak: collecting the safe fixes…', (token) =>
    collect(server, [...files.values()], closed, token),
  );
  if (edit === undefined) {
    return;
  }
  if (edit.size === 0) {
    void vscode.window.showInformationMessage('Graphleak: no finding has a safe fix.');
    return;
  }
  await vscode.workspace.applyEdit(edit, { isRefactoring: true });
  // No editor shows that they have changed.
  await Promise.all([...closed].filter(({ isDirty }) => isDirty).map((notebook) => notebook.save()));
}

/** Collects the fixes of files, and the notebooks among them that were closed. */
async function collect(
  server: Server,
  files: readonly vscode.Uri[],
  closed: Set<vscode.NotebookDocument>,
  token: vscode.CancellationToken,
): Promise<vscode.WorkspaceEdit> {
  const all = new vscode.WorkspaceEdit();
  const done = new Set<string>();
  for (const file of files) {
    if (token.isCancellationRequested) {
      break;
    }
    const open = notebookWith(file);
    // The findings of a closed notebook are in its JSON. The server has its cells once it is read.
    const notebook =
      open ?? (file.path.endsWith('.ipynb') ? await vscode.workspace.openNotebookDocument(file) : undefined);
    // The cells of a notebook are fixed together.
    const whole = (notebook?.uri ?? file).toString();
    const document =
      notebook === undefined
        ? await vscode.workspace.openTextDocument(file)
        : notebook.getCells().find(({ document }) => document.languageId === 'python')?.document;
    if (document === undefined || done.has(whole)) {
      continue;
    }
    done.add(whole);
    if (notebook !== undefined && open === undefined) {
      closed.add(notebook);
    }
    const fixes = await server.safeFixes(document, token);
    for (const [uri, edits] of fixes.entries()) {
      for (const { range, newText } of edits) {
        all.replace(uri, range, newText, { label, needsConfirmation: true });
      }
    }
  }
  return all;
}

/** The open notebook that has a cell. */
function notebookWith(cell: vscode.Uri): vscode.NotebookDocument | undefined {
  return vscode.workspace.notebookDocuments.find((notebook) =>
    notebook.getCells().some(({ document }) => document.uri.toString() === cell.toString()),
  );
}
