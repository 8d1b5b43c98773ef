import * as vscode from 'vscode';
import type { DiagnoseResult, Position, Suspect } from './diagnosis';

/** A place in a text document: a file, or the cell of a notebook. */
interface Place {
  readonly document: vscode.TextDocument;
  readonly range: vscode.Range;
}

/** Shows the code of a suspect. */
export async function showSuspect(
  result: DiagnoseResult,
  index: number,
  column: vscode.ViewColumn,
): Promise<Place | undefined> {
  const suspect = result.diagnosis.suspects[index];
  const address = result.suspects[index];
  if (suspect === undefined || address === undefined) {
    return undefined;
  }
  const uri = vscode.Uri.parse(address);
  if (suspect.cell !== undefined) {
    return showCell(await vscode.workspace.openNotebookDocument(uri), suspect, suspect.cell - 1, column);
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const range = rangeIn(document, suspect);
  await vscode.window.showTextDocument(document, {
    viewColumn: column,
    selection: new vscode.Range(range.start, range.start),
  });
  return { document, range };
}

/**
 * Applies the quick fix of a suspect, which the server makes for the code as it
 * is now. A fix that may change the behaviour of the program is only offered.
 */
export async function fixSuspect(result: DiagnoseResult, index: number, column: vscode.ViewColumn): Promise<void> {
  const place = await showSuspect(result, index, column);
  const suspect = result.diagnosis.suspects[index];
  if (place === undefined || suspect === undefined) {
    return;
  }
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    place.document.uri,
    place.range,
    vscode.CodeActionKind.QuickFix.value,
    10, // so many come with their edits
  );
  // The editor tells of an action neither its provider nor its diagnostics.
  const titles = new Set(suspect.fixes?.map(({ title }) => title));
  const offered = actions.filter(({ title, edit }) => titles.has(title) && edit !== undefined);
  const fix = offered.find(({ isPreferred }) => isPreferred === true);
  if (fix?.edit !== undefined) {
    await vscode.workspace.applyEdit(fix.edit);
    vscode.window.setStatusBarMessage(`Graphleak: ${fix.title}`, 5000);
  } else if (offered.length > 0) {
    await vscode.commands.executeCommand('editor.action.quickFix');
  } else {
    void vscode.window.showInformationMessage(
      `Graphleak: ${suspect.code} is no longer found here. The code has changed since the diagnosis.`,
    );
  }
}

async function showCell(
  notebook: vscode.NotebookDocument,
  suspect: Suspect,
  index: number,
  column: vscode.ViewColumn,
): Promise<Place | undefined> {
  const cell = notebook.getCells()[index];
  if (cell === undefined) {
    return undefined;
  }
  const cells = new vscode.NotebookRange(cell.index, cell.index + 1);
  await vscode.window.showNotebookDocument(notebook, { viewColumn: column, selections: [cells] });
  const range = rangeIn(cell.document, suspect);
  await vscode.window.showTextDocument(cell.document, { viewColumn: column, selection: range });
  return { document: cell.document, range };
}

function rangeIn(document: vscode.TextDocument, { range }: Suspect): vscode.Range {
  return new vscode.Range(positionIn(document, range.start), positionIn(document, range.end));
}

/** The server counts characters of Unicode, the editor UTF-16 units, and lines from 0. */
function positionIn(document: vscode.TextDocument, { line, column }: Position): vscode.Position {
  const { text, lineNumber } = document.lineAt(Math.min(Math.max(line - 1, 0), document.lineCount - 1));
  const units = Array.from(text)
    .slice(0, column - 1)
    .join('').length;
  return new vscode.Position(lineNumber, units);
}
