import path from 'node:path';
import * as vscode from 'vscode';
import type { FileSource, Segment, Source, TextSource } from '../diagnosis';

/**
 * What is selected in the active editor, or all of it when nothing is. Files
 * that are too large for the editor to hand out have no text here, but a path.
 */
export function activeEditor(): Source | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    const uri = activeFile();
    return uri && files([uri]);
  }
  const selections = editor.selections.filter(({ isEmpty }) => !isEmpty);
  return selections.length === 0 ? wholeDocument(editor.document) : parts(editor.document, selections);
}

/** A document as it is in the editor. */
export function wholeDocument(document: vscode.TextDocument): Source {
  return document.uri.scheme === 'file' && !document.isDirty
    ? files([document.uri])
    : parts(document, [new vscode.Range(0, 0, document.lineCount, 0)]);
}

/** Parts of a document as one text, in the order in which they stand there. */
export function parts(document: vscode.TextDocument, ranges: readonly vscode.Range[]): TextSource {
  const segments: Segment[] = [];
  const texts: string[] = [];
  let textLine = 0;
  for (const range of ranges.toSorted((a, b) => a.start.compareTo(b.start))) {
    segments.push({ textLine, documentLine: range.start.line });
    const text = document.getText(range);
    texts.push(text);
    textLine += text.split('\n').length;
  }
  return {
    kind: 'text',
    name: nameOf(document.uri),
    text: texts.join('\n'),
    document: { uri: document.uri.toString(), segments },
  };
}

/** Files and folders of logs: one incident. */
export function files(uris: readonly vscode.Uri[]): FileSource {
  const [first] = uris;
  const name = first === undefined ? 'nothing' : nameOf(first);
  return {
    kind: 'files',
    name: uris.length > 1 ? `${name} and ${uris.length - 1} more` : name,
    uris: uris.map((uri) => uri.toString()),
  };
}

/** The file of the active tab, whatever shows it. */
export function activeFile(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputText ||
    input instanceof vscode.TabInputCustom ||
    input instanceof vscode.TabInputNotebook
    ? input.uri
    : undefined;
}

function nameOf(uri: vscode.Uri): string {
  return path.posix.basename(uri.path) || uri.toString();
}
