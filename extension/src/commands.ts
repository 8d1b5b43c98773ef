import * as vscode from 'vscode';
import type { Diagnoser } from './diagnoser';
import type { Source } from './diagnosis';
import { clipboard } from './sources/clipboard';
import type { Debugging } from './sources/debugging';
import { activeEditor, activeFile, files, wholeDocument } from './sources/editors';
import { activeCell, cellOutput } from './sources/notebooks';
import { terminalSelection, type Terminals } from './sources/terminals';
import { type TestMessageContext, testMessage } from './sources/tests';

/** Registers the commands that diagnose something, each with where its text is from. */
export function registerDiagnoseCommands(
  diagnoser: Diagnoser,
  terminals: Terminals,
  debugging: Debugging,
  report: (error: unknown) => void,
): vscode.Disposable[] {
  /** Diagnoses what find finds; if that is nothing, says what to do first. */
  // The editor calls commands with what their menu is about.
  const register = (
    command: string,
    otherwise: string,
    find: (...args: never[]) => Source | undefined | Promise<Source | undefined>,
  ) =>
    vscode.commands.registerCommand(command, async (...args: unknown[]) => {
      try {
        const source = await find(...(args as never[]));
        if (source === undefined) {
          void vscode.window.showInformationMessage(`Graphleak: ${otherwise}`);
        } else {
          await diagnoser.diagnose(source);
        }
      } catch (error) {
        report(error);
      }
    });

  return [
    register(
      'graphleak.diagnoseSelection',
      'open the log or traceback in an editor, select the failure, then run this command again.',
      activeEditor,
    ),
    register('graphleak.diagnoseFile', 'open the log first, or choose it in the Explorer.', chosenFiles),
    register('graphleak.diagnoseClipboard', 'copy the log first.', clipboard),
    register('graphleak.diagnoseTerminalSelection', 'select the failure in a terminal first.', terminalSelection),
    register('graphleak.diagnoseFailedCommand', 'no command has failed in a terminal.', () => terminals.lastFailed()),
    register('graphleak.diagnoseDebugException', 'start a debug session first.', () => debugging.exception()),
    register('graphleak.diagnoseCell', 'open a notebook first.', (context?: vscode.NotebookCell) => {
      const cell = context ?? activeCell();
      return cell && cellOutput(cell);
    }),
    register(
      'graphleak.diagnoseTest',
      'use this command in the menu of the message of a failed test.',
      (context?: TestMessageContext) => context && testMessage(context),
    ),
    // Carries what was found elsewhere; not for the palette.
    register('graphleak.diagnoseText', 'there is no text.', (source: Source) => source),
  ];
}

/** What is chosen in the Explorer or by a tab's menu, else the file of the active editor. */
function chosenFiles(uri?: vscode.Uri, all?: readonly vscode.Uri[]): Source | undefined | Promise<Source> {
  const chosen = all !== undefined && all.length > 0 ? all : uri === undefined ? [] : [uri];
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === chosen[0]?.toString());
  if (chosen.length === 1 && open?.isDirty === true) {
    return wholeDocument(open);
  }
  const [first] = chosen;
  if (first !== undefined) {
    // What is on no disk of this machine cannot be read by the server.
    return first.scheme === 'file' ? files(chosen) : virtual(first);
  }
  const document = vscode.window.activeTextEditor?.document;
  const file = activeFile();
  return document === undefined ? file && files([file]) : wholeDocument(document);
}

async function virtual(uri: vscode.Uri): Promise<Source> {
  return wholeDocument(await vscode.workspace.openTextDocument(uri));
}
