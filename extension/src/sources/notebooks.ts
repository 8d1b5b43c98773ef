import path from 'node:path';
import * as vscode from 'vscode';
import type { TextSource } from '../diagnosis';

const errorMime = 'application/vnd.code.notebook.error';
const textMimes = ['application/vnd.code.notebook.stdout', 'application/vnd.code.notebook.stderr', 'text/plain'];

/** What a cell has put out, with its errors. */
export function cellOutput(cell: vscode.NotebookCell): TextSource {
  const decoder = new TextDecoder();
  const texts = cell.outputs.map(({ items }) => {
    const item = items.find(({ mime }) => mime === errorMime) ?? items.find(({ mime }) => textMimes.includes(mime));
    const text = decoder.decode(item?.data);
    return item?.mime === errorMime ? errorText(text) : text;
  });
  const name = path.posix.basename(cell.notebook.uri.path);
  return { kind: 'text', name: `cell ${cell.index + 1} of ${name}`, text: texts.join('\n') };
}

/** The selected cell of the active notebook; if it has no error, the first cell that has one. */
export function activeCell(): vscode.NotebookCell | undefined {
  const editor = vscode.window.activeNotebookEditor;
  if (editor === undefined) {
    return undefined;
  }
  const [selected] = editor.notebook.getCells(editor.selection);
  return selected !== undefined && hasError(selected)
    ? selected
    : (editor.notebook.getCells().find(hasError) ?? selected);
}

/** Offers to diagnose the error of a cell, below the cell. */
export const cellOffer: vscode.NotebookCellStatusBarItemProvider = {
  provideCellStatusBarItems(cell) {
    if (!hasError(cell)) {
      return [];
    }
    const item = new vscode.NotebookCellStatusBarItem(
      '$(pulse) Diagnose error',
      vscode.NotebookCellStatusBarAlignment.Left,
    );
    item.command = { command: 'graphleak.diagnoseCell', title: 'Diagnose error', arguments: [cell] };
    item.tooltip = 'Graphleak: explain the error of this cell';
    return [item];
  },
};

function hasError(cell: vscode.NotebookCell): boolean {
  return cell.outputs.some(({ items }) => items.some(({ mime }) => mime === errorMime));
}

/** The traceback of an error as VS Code stores it. */
function errorText(json: string): string {
  const { name = '', message = '', stack = '' } = JSON.parse(json) as Partial<Error>;
  return stack === '' ? `${name}: ${message}` : stack;
}
