import * as vscode from 'vscode';
import type { TextSource } from '../diagnosis';
import { Tail } from './tail';

const keptOutput = 256 << 10; // characters of one debug session

/** What an answer to the request exceptionInfo of the debug adapter protocol has. */
interface ExceptionInfo {
  readonly exceptionId: string;
  readonly description?: string;
  readonly details?: { readonly message?: string; readonly typeName?: string; readonly stackTrace?: string };
}

interface AdapterMessage {
  readonly type: string;
  readonly event?: string;
  readonly body?: {
    readonly reason?: string;
    readonly threadId?: number;
    readonly category?: string;
    readonly output?: string;
  };
}

/** What is known about a debug session. */
interface Observed {
  readonly session: vscode.DebugSession;
  readonly output: Tail;
  /** The thread that an exception has stopped, if one has. */
  thread?: number | undefined;
}

/**
 * Listens to debug adapters, of any kind: for the exceptions they stop at, and
 * for what the program writes to the debug console.
 */
export class Debugging implements vscode.Disposable {
  readonly #registration: vscode.Disposable;
  #last: Observed | undefined;

  constructor() {
    this.#registration = vscode.debug.registerDebugAdapterTrackerFactory('*', {
      createDebugAdapterTracker: (session) => {
        const observed: Observed = { session, output: new Tail(keptOutput) };
        this.#last = observed;
        return {
          onDidSendMessage: (message: AdapterMessage) => {
            this.#observe(observed, message);
          },
          onWillStopSession: () => {
            this.#stopped(observed, undefined);
          },
        };
      },
    });
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /**
   * The exception that the debugger has stopped at, with its calls; if it has
   * not, what the last session wrote to the debug console.
   */
  async exception(): Promise<TextSource | undefined> {
    const observed = this.#last;
    if (observed === undefined) {
      return undefined;
    }
    const { session, thread, output } = observed;
    const name = `the debug session ${session.name}`;
    if (thread !== undefined) {
      const info = (await session.customRequest('exceptionInfo', { threadId: thread })) as ExceptionInfo;
      return { kind: 'text', name, text: traceback(info) };
    }
    return { kind: 'text', name, text: output.text };
  }

  #observe(observed: Observed, { type, event, body }: AdapterMessage): void {
    if (type !== 'event') {
      return;
    }
    switch (event) {
      case 'output':
        if (body?.category !== 'telemetry') {
          observed.output.append(body?.output ?? '');
        }
        break;
      case 'stopped':
        this.#last = observed;
        this.#stopped(observed, body?.reason === 'exception' ? body.threadId : undefined);
        break;
      case 'continued':
        this.#stopped(observed, undefined);
        break;
      case undefined:
      default:
        break;
    }
  }

  #stopped(observed: Observed, thread: number | undefined): void {
    observed.thread = thread;
    void vscode.commands.executeCommand('setContext', 'graphleak.stoppedOnException', thread !== undefined);
  }
}

/** Writes an exception the way Python does. */
function traceback({ exceptionId, description, details }: ExceptionInfo): string {
  const type = details?.typeName ?? exceptionId;
  const message = details?.message ?? description ?? '';
  const head = 'Traceback (most recent call last):';
  const calls = (details?.stackTrace ?? '').trimEnd();
  const lines = calls === '' || calls.includes(head) ? [calls] : [head, calls];
  return [...lines, message === '' ? type : `${type}: ${message}`].filter((line) => line !== '').join('\n');
}
