import * as vscode from 'vscode';
import { registerDiagnoseCommands } from './commands';
import { Diagnoser } from './diagnoser';
import { Encyclopedia } from './encyclopedia';
import { openExample } from './example';
import { fixAllSafe } from './fixAll';
import { Offer } from './offer';
import { allFindings, codeOf, type Finding, Overview } from './overview';
import { cancellable } from './progress';
import { Server } from './server';
import { Debugging } from './sources/debugging';
import { tracebackActions } from './sources/lightbulb';
import { cellOffer } from './sources/notebooks';
import { Terminals } from './sources/terminals';
import { Status } from './status';

let server: Server | undefined;

// Where a pasted traceback may be. Terminals, output and the old side of a diff
// have schemes of their own.
const textSchemes = ['file', 'untitled', 'vscode-remote', 'vscode-vfs', 'vscode-notebook-cell'];

/**
 * Starts the language server and connects the commands to it. The server does
 * all reading and reasoning; the extension only carries questions to it and
 * shows its answers.
 */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Graphleak', { log: true });
  const report = (error: unknown) => {
    void reportFailure(error, output);
  };
  const running = new Server(output, context.extensionPath);
  // Before anything else, as the process needs no more of the editor: it starts while the rest is registered.
  startWithPython(running, context);
  const status = new Status();
  status.update(running.state);
  const diagnoser = new Diagnoser(running, context.extensionUri, report);
  const encyclopedia = new Encyclopedia(running);
  const terminals = new Terminals();
  const debugging = new Debugging();
  const overview = new Overview();
  server = running;

  const explain = (topic?: string) => encyclopedia.explain(topic).catch(report);
  context.subscriptions.push(
    output,
    status,
    diagnoser,
    encyclopedia,
    terminals,
    debugging,
    overview,
    new Offer(diagnoser, terminals, report),
    ...registerDiagnoseCommands(diagnoser, terminals, debugging, report),
    running.onDidChangeState((state) => {
      status.update(state);
    }),
    vscode.languages.onDidChangeDiagnostics(() => {
      status.count(allFindings().length);
      overview.refresh();
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration('graphleak.path')) {
        await running.restart();
      }
    }),
    vscode.commands.registerCommand('graphleak.showOutput', () => {
      output.show();
    }),
    vscode.commands.registerCommand('graphleak.restartServer', () => running.restart()),
    vscode.commands.registerCommand('graphleak.explain', explain),
    vscode.commands.registerCommand('graphleak.explainFinding', ({ diagnostic }: Finding) =>
      explain(codeOf(diagnostic)),
    ),
    vscode.commands.registerCommand('graphleak.scanWorkspace', () => scanWorkspace(running).catch(report)),
    vscode.commands.registerCommand('graphleak.fixAllSafe', () => fixAllSafe(running).catch(report)),
    vscode.commands.registerCommand('graphleak.openExample', () => openExample(context).catch(report)),
    // What the server's code actions call.
    vscode.commands.registerCommand('graphleak.openPage', explain),
    vscode.notebooks.registerNotebookCellStatusBarItemProvider('jupyter-notebook', cellOffer),
    vscode.languages.registerCodeActionsProvider(
      textSchemes.map((scheme) => ({ scheme })),
      tracebackActions,
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
  );
}

/** Starts the server with the first Python document. Commands that need it before start it too. */
function startWithPython(running: Server, { subscriptions }: vscode.ExtensionContext): void {
  const isPython = ({ languageId }: vscode.TextDocument) => languageId === 'python';
  if (vscode.workspace.textDocuments.some(isPython)) {
    running.start();
    return;
  }
  const waiting = vscode.workspace.onDidOpenTextDocument((document) => {
    if (isPython(document)) {
      waiting.dispose();
      running.start();
    }
  });
  subscriptions.push(waiting);
}

/** The editor waits for this before it ends the extension host. */
export async function deactivate(): Promise<void> {
  await server?.dispose();
}

/** Has all files of the workspace checked, and shows what was found. */
async function scanWorkspace(running: Server): Promise<void> {
  const result = await cancellable('Graphleak: checking the workspace…', (token) =>
    running.execute<{ readonly files: number; readonly findings: number }>('graphleak.scanWorkspace', [], token),
  );
  if (result !== undefined) {
    await vscode.commands.executeCommand('graphleak.findings.focus');
    vscode.window.setStatusBarMessage(`Graphleak: ${result.findings} findings in ${result.files} files`, 8000);
  }
}

async function reportFailure(error: unknown, output: vscode.LogOutputChannel): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  output.error(reason);
  const showOutput = 'Show Output';
  const choice = await vscode.window.showErrorMessage(`Graphleak: ${reason}`, showOutput);
  if (choice === showOutput) {
    output.show();
  }
}
