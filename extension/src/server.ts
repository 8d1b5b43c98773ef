import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { CodeAction, LanguageClient } from 'vscode-languageclient/node';
import { BinaryError, findBinary } from './binary';
import { describeExit, type ServerProcess, startProcess } from './process';
import { RestartPolicy } from './restarts';

/** What the server is doing, for the status bar and for those who wait for it. */
export type ServerState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready'; readonly name: string }
  | { readonly kind: 'failed'; readonly reason: string };

const startTimeoutMs = 20_000;
const stopTimeoutMs = 2_000;

/**
 * Keeps one language server running.
 *
 * Each server process has a language client of its own: when the process dies,
 * the client goes with it, and a new pair takes their place. That leaves one
 * owner of the question whether to start again, instead of sharing it with the
 * client's state machine.
 */
export class Server implements vscode.Disposable {
  readonly #output: vscode.LogOutputChannel;
  readonly #extensionPath: string;
  readonly #restarts = new RestartPolicy();
  readonly #stateChanged = new vscode.EventEmitter<ServerState>();
  readonly onDidChangeState = this.#stateChanged.event;

  #state: ServerState = { kind: 'stopped' };
  #session: Session | undefined;
  // The supervising loop, and what ends it.
  #supervision: { readonly ended: Promise<void>; readonly abort: AbortController } | undefined;

  constructor(output: vscode.LogOutputChannel, extensionPath: string) {
    this.#output = output;
    this.#extensionPath = extensionPath;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Starts the server unless it is running already. Problems are shown to the user. */
  start(): void {
    if (this.#supervision !== undefined) {
      return;
    }
    const abort = new AbortController();
    const ended = this.#supervise(abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) {
          this.#fail(error);
        }
      })
      .finally(() => {
        if (this.#supervision?.abort === abort) {
          this.#supervision = undefined;
        }
      });
    this.#supervision = { ended, abort };
  }

  /** Stops the server and waits until it has ended. */
  async stop(): Promise<void> {
    const supervision = this.#supervision;
    this.#supervision = undefined;
    this.#setState({ kind: 'stopped' });
    supervision?.abort.abort();
    await supervision?.ended;
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#restarts.reset();
    this.start();
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.#stateChanged.dispose();
  }

  /**
   * Sends a workspace command to the server. Starts the server if it is not
   * running, and waits until it is ready.
   */
  async execute<Result>(command: string, args: unknown[], token: vscode.CancellationToken): Promise<Result> {
    const client = await this.#ready(token);
    return client.sendRequest<Result>('workspace/executeCommand', { command, arguments: args }, token);
  }

  /** The safe fixes of a document, whether or not the editor shows it. Those of a cell are those of its notebook. */
  async safeFixes(document: vscode.TextDocument, token: vscode.CancellationToken): Promise<vscode.WorkspaceEdit> {
    const client = await this.#ready(token);
    const question = {
      textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri) },
      range: { start: { line: 0, character: 0 }, end: { line: document.lineCount, character: 0 } },
      context: { diagnostics: [], only: ['source.fixAll.graphleak'] },
    };
    const [action] = (await client.sendRequest<CodeAction[] | null>('textDocument/codeAction', question, token)) ?? [];
    const { edit } =
      action === undefined || action.edit !== undefined
        ? (action ?? {})
        : await client.sendRequest<CodeAction>('codeAction/resolve', action, token);
    return (await client.protocol2CodeConverter.asWorkspaceEdit(edit, token)) ?? new vscode.WorkspaceEdit();
  }

  async #ready(token: vscode.CancellationToken): Promise<LanguageClient> {
    this.start();
    while (this.#session === undefined || this.#state.kind !== 'ready') {
      await new Promise<void>((resolve) => {
        const subscriptions = [this.onDidChangeState, token.onCancellationRequested].map((event) =>
          event(() => {
            subscriptions.forEach((subscription) => void subscription.dispose());
            resolve();
          }),
        );
      });
      if (token.isCancellationRequested) {
        throw new vscode.CancellationError();
      }
      // Read again: the state has changed while waiting.
      const state: ServerState = this.state;
      if (state.kind === 'failed') {
        throw new Error(state.reason);
      }
    }
    return this.#session.client;
  }

  /** Runs the server, again after each death. Throws when aborted or when it gives up. */
  async #supervise(signal: AbortSignal): Promise<never> {
    for (let ranBefore = false; ; ranBefore = true) {
      const how = await this.#runOnce(signal, ranBefore);
      signal.throwIfAborted();
      const wait = this.#restarts.died(Date.now());
      if (wait === undefined) {
        const { count, windowMs } = this.#restarts.limits;
        throw new Error(
          `The server ended ${count + 1} times within ${windowMs / 60_000} minutes and stays stopped. The last time it ${how}`,
        );
      }
      this.#output.error(`The server ${how}. Starting it again.`);
      this.#setState({ kind: 'starting' });
      await delay(wait, undefined, { signal });
    }
  }

  /**
   * Runs the server until it ends and returns how it did. A server that never
   * ran must start: what keeps it from that will do so again. One that did run
   * and dies while it starts again has died once more.
   */
  async #runOnce(signal: AbortSignal, ranBefore: boolean): Promise<string> {
    this.#setState({ kind: 'starting' });
    let session: Session;
    try {
      session = await Session.start(this.#output, this.#extensionPath, signal);
    } catch (error) {
      if (ranBefore && error instanceof StartError) {
        return error.how;
      }
      throw error;
    }
    try {
      this.#session = session;
      this.#setState({ kind: 'ready', name: session.name });
      return describeExit(await Promise.race([session.exited, aborted(signal)]));
    } finally {
      this.#session = undefined;
      await session.stop();
    }
  }

  #setState(state: ServerState): void {
    this.#state = state;
    this.#stateChanged.fire(state);
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#output.error(reason);
    this.#setState({ kind: 'failed', reason });
    void this.#offerHelp(reason, error instanceof BinaryError);
  }

  async #offerHelp(reason: string, settingHelps: boolean): Promise<void> {
    const restart = 'Restart';
    const showOutput = 'Show Output';
    const openSettings = 'Open Settings';
    const actions = settingHelps ? [restart, openSettings, showOutput] : [restart, showOutput];
    switch (await vscode.window.showErrorMessage(`Graphleak: ${reason}`, ...actions)) {
      case restart:
        await this.restart();
        break;
      case showOutput:
        this.#output.show();
        break;
      case openSettings:
        await vscode.commands.executeCommand('workbench.action.openSettings', 'graphleak.path');
        break;
      case undefined: // dismissed
        break;
    }
  }
}

/** A server process that ended before it answered. */
class StartError extends BinaryError {
  constructor(
    message: string,
    settingHelps: boolean,
    /** How the process ended. */
    readonly how: string,
  ) {
    super(message, settingHelps);
  }
}

/** One server process with the client that speaks to it. */
class Session {
  private constructor(
    readonly client: LanguageClient,
    readonly name: string,
    readonly exited: ServerProcess['exited'],
    private readonly server: ServerProcess,
  ) {}

  /** Starts a server and waits for its answer. Throws if it does not start or if aborted meanwhile. */
  static async start(output: vscode.LogOutputChannel, extensionPath: string, signal: AbortSignal): Promise<Session> {
    const configured = vscode.workspace.getConfiguration('graphleak').get<string>('path', '');
    const binary = await findBinary({ configured, extensionPath });
    const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
    output.info(`Starting ${binary} serve`);
    const began = Date.now();
    const server = await startProcess(binary, ['serve'], folder?.uri.fsPath, (line) => {
      output.info(`[server] ${line}`);
    }).catch((error: unknown) => {
      throw new BinaryError(`The server ${binary} does not start: ${String(error)}`, configured !== '');
    });

    // The process starts while the client, which is most of the extension's code, is read.
    const { Client } = await import('./client');
    const client = new Client(server, output);
    const answered = client.start().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const late = delay(startTimeoutMs, `it did not answer within ${startTimeoutMs / 1000} seconds`, { ref: false });
    let problem: string | undefined;
    try {
      problem = await Promise.race([answered, late, aborted(signal)]);
    } catch (error) {
      server.kill();
      throw error;
    }
    if (problem !== undefined) {
      server.kill();
      // A server that ended by itself knows the reason better than its client.
      const exit = await server.exited;
      const reason = exit.signal === 'SIGKILL' ? problem : `it ${describeExit(exit)}`;
      throw new StartError(`The server ${binary} does not start: ${reason}`, configured !== '', describeExit(exit));
    }
    const { name = 'graphleak', version = '' } = client.initializeResult?.serverInfo ?? {};
    output.info(`${name} ${version} is ready after ${Date.now() - began} ms (process ${server.pid})`);
    return new Session(client, `${name} ${version}`.trim(), server.exited, server);
  }

  /** Ends the client, and the process if it still runs. */
  async stop(): Promise<void> {
    await this.client.dispose(stopTimeoutMs).catch(() => undefined);
    this.server.kill();
    await this.exited;
  }
}

/** Rejects when the signal is raised, and never resolves. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => {
      reject(new Error('stopped', { cause: signal.reason }));
    };
    if (signal.aborted) {
      abort();
    } else {
      signal.addEventListener('abort', abort, { once: true });
    }
  });
}
