import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** How a server process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last line it wrote to standard error, where programs say why they end. */
  readonly lastLine: string | undefined;
}

/** A running server process. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
  readonly exited: Promise<Exit>;
  kill(): void;
}

/**
 * Starts command and waits until the operating system has accepted it. Each
 * line the process writes to standard error goes to onLine.
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  cwd: string | undefined,
  onLine: (line: string) => void,
): Promise<ServerProcess> {
  const child = spawn(command, args, { stdio: 'pipe', windowsHide: true, ...(cwd !== undefined && { cwd }) });
  // Writing to a process that has just died raises an error on the stream; the
  // exit is what tells.
  child.stdin.on('error', () => undefined);
  const exited = watch(child, onLine);
  await once(child, 'spawn');
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    kill: () => child.kill('SIGKILL'),
  };
}

function watch(child: ChildProcessWithoutNullStreams, onLine: (line: string) => void): Promise<Exit> {
  let lastLine: string | undefined;
  createInterface({ input: child.stderr, crlfDelay: Infinity }).on('line', (line) => {
    if (line.trim() !== '') {
      lastLine = line;
      onLine(line);
    }
  });
  return new Promise((resolve) => {
    // "close" comes after the streams have ended, so the last line is known.
    child.once('close', (code, signal) => {
      resolve({ code, signal, lastLine });
    });
  });
}

/** Says how a process ended, to complete a sentence such as "The server …". */
export function describeExit({ code, signal, lastLine }: Exit): string {
  const how = signal !== null ? `was ended by ${signal}` : `ended with exit code ${code ?? 'unknown'}`;
  return lastLine === undefined ? how : `${how}: ${lastLine.trim()}`;
}
