import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { TextSource } from '../diagnosis';
import { copiedBy } from './clipboard';
import { Tail } from './tail';

const keptOutput = 1 << 20; // characters of one command
const interrupted = 130; // the exit code after Ctrl+C

/** A command that failed in a terminal. */
export interface FailedCommand {
  readonly terminal: vscode.Terminal;
  readonly commandLine: string;
  readonly output: string;
}

/**
 * Follows the commands that run in terminals with shell integration and
 * remembers the last one that failed, with the end of its output.
 */
export class Terminals implements vscode.Disposable {
  readonly #running = new Map<vscode.TerminalShellExecution, { readonly tail: Tail; readonly read: Promise<void> }>();
  readonly #failed = new vscode.EventEmitter<FailedCommand>();
  readonly #started = new vscode.EventEmitter<vscode.Terminal>();
  readonly #subscriptions: { dispose(): unknown }[];
  #last: FailedCommand | undefined;

  /** Fired when a command has failed. */
  readonly onDidFail = this.#failed.event;
  /** Fired when another command begins, or the terminal closes. */
  readonly onDidMoveOn = this.#started.event;

  constructor() {
    this.#subscriptions = [
      this.#failed,
      this.#started,
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        this.#started.fire(terminal);
        const tail = new Tail(keptOutput);
        this.#running.set(execution, { tail, read: follow(execution, tail) });
      }),
      vscode.window.onDidEndTerminalShellExecution(async ({ terminal, execution, exitCode }) => {
        const running = this.#running.get(execution);
        this.#running.delete(execution);
        if (running === undefined || exitCode === undefined || exitCode === 0 || exitCode === interrupted) {
          return;
        }
        // What the command wrote last may arrive after the news of its end.
        await Promise.race([running.read, delay(500)]);
        this.#last = { terminal, commandLine: execution.commandLine.value, output: running.tail.text };
        this.#failed.fire(this.#last);
      }),
      vscode.window.onDidCloseTerminal((terminal) => {
        this.#started.fire(terminal);
      }),
    ];
  }

  dispose(): void {
    this.#subscriptions.forEach((subscription) => void subscription.dispose());
  }

  /** The last command that failed, else the last one of the active terminal. */
  async lastFailed(): Promise<TextSource | undefined> {
    if (this.#last !== undefined && this.#last.output.trim() !== '') {
      return sourceOf(this.#last);
    }
    // Now and then the output of a command does not arrive, and what ran before
    // the extension was active never does. The terminal still has it.
    if (vscode.window.activeTerminal === undefined) {
      return undefined;
    }
    const text = await copiedBy('workbench.action.terminal.copyLastCommandOutput');
    return { kind: 'text', name: `the last command in ${vscode.window.activeTerminal.name}`, text };
  }
}

/** The output of a command as something to diagnose. */
export function sourceOf({ commandLine, output }: FailedCommand): TextSource {
  return { kind: 'text', name: commandLine.trim() || 'a command', text: output };
}

/** What is selected in the active terminal. */
export async function terminalSelection(): Promise<TextSource> {
  const name = `the terminal ${vscode.window.activeTerminal?.name ?? ''}`.trim();
  return { kind: 'text', name, text: await copiedBy('workbench.action.terminal.copySelection') };
}

async function follow(execution: vscode.TerminalShellExecution, tail: Tail): Promise<void> {
  for await (const data of execution.read()) {
    tail.append(data);
  }
}
