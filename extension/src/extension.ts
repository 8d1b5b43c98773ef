import * as vscode from 'vscode';
import { Diagnoser } from './diagnosis';
import { Server } from './server';
import { Status } from './status';

let server: Server | undefined;

/**
 * Starts the language server and connects the commands to it. The server does
 * all reading and reasoning; the extension only carries questions to it and
 * shows its answers.
 */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Graphleak', { log: true });
  const status = new Status();
  const running = new Server(output, context.extensionPath);
  const diagnoser = new Diagnoser(running);
  server = running;

  context.subscriptions.push(
    output,
    status,
    diagnoser,
    running.onDidChangeState((state) => {
      status.update(state);
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
    vscode.commands.registerCommand('graphleak.diagnoseSelection', async () => {
      try {
        await diagnoser.diagnoseSelection();
      } catch (error) {
        await reportFailure(error, output);
      }
    }),
  );
  running.start();
}

/** The editor waits for this before it ends the extension host. */
export async function deactivate(): Promise<void> {
  await server?.dispose();
}

async function reportFailure(error: unknown, output: vscode.LogOutputChannel): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  output.error(`Diagnose Selection failed: ${reason}`);
  const showOutput = 'Show Output';
  const choice = await vscode.window.showErrorMessage(`Graphleak could not diagnose this text: ${reason}`, showOutput);
  if (choice === showOutput) {
    output.show();
  }
}
