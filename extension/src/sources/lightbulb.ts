import * as vscode from 'vscode';
import { parts } from './editors';

const head = /^.{0,200}?Traceback \(most recent call last\)/;
const chained = /During handling of the above exception|The above exception was the direct cause/;
const above = 300; // lines between the start of a traceback and the cursor
const most = 600; // lines of a traceback

/** Offers to diagnose the traceback around the cursor, in any text. */
export const tracebackActions: vscode.CodeActionProvider = {
  provideCodeActions(document, range, { only }) {
    if (only !== undefined && !only.contains(vscode.CodeActionKind.QuickFix)) {
      return [];
    }
    const found = tracebackAt(document, range.start.line);
    if (found === undefined) {
      return [];
    }
    const action = new vscode.CodeAction('Diagnose this failure (Graphleak)', vscode.CodeActionKind.QuickFix);
    action.command = {
      command: 'graphleak.diagnoseText',
      title: action.title,
      arguments: [parts(document, [found])],
    };
    return [action];
  },
};

/** Finds the lines of the traceback that a line is in: from its head to what follows its exception. */
function tracebackAt(document: vscode.TextDocument, line: number): vscode.Range | undefined {
  let first: number | undefined;
  for (let at = line, blank = false; at >= Math.max(0, line - above); at--) {
    const { text, isEmptyOrWhitespace } = document.lineAt(at);
    if (head.test(text)) {
      if (first === undefined && blank) {
        return undefined; // the cursor is in what follows it
      }
      first = at;
      if (!continuesAbove(document, at)) {
        break;
      }
    }
    blank ||= isEmptyOrWhitespace;
  }
  if (first === undefined) {
    return undefined;
  }
  let last = first;
  for (let at = first + 1; at < Math.min(document.lineCount, first + most); at++) {
    if (head.test(document.lineAt(at).text) && !continuesAbove(document, at)) {
      break;
    }
    last = at;
  }
  return new vscode.Range(first, 0, last, document.lineAt(last).text.length);
}

/** Whether the traceback that starts at a line belongs to the one before it. */
function continuesAbove(document: vscode.TextDocument, line: number): boolean {
  for (let at = line - 1; at >= Math.max(0, line - 3); at--) {
    if (chained.test(document.lineAt(at).text)) {
      return true;
    }
  }
  return false;
}
