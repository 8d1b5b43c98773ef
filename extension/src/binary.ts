import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/** Where to look for the server. */
export interface BinaryLocation {
  /** The setting `graphleak.path`; empty for the bundled server. */
  readonly configured: string;
  readonly extensionPath: string;
}

/** A server that cannot be started, in words for the user. */
export class BinaryError extends Error {
  constructor(
    message: string,
    /** Whether the user chose the binary, and so can choose another. */
    readonly configured: boolean,
  ) {
    super(message);
    this.name = 'BinaryError';
  }
}

/** Returns the path of the server to start, or throws a {@link BinaryError}. */
export async function findBinary({ configured, extensionPath }: BinaryLocation): Promise<string> {
  const setting = configured.trim();
  if (setting === '') {
    const bundled = path.join(extensionPath, 'bin', executableName('graphleak'));
    await checkExecutable(bundled, false);
    return bundled;
  }
  if (!/[\\/]/.test(setting)) {
    return findOnPath(setting);
  }
  const file = setting.replace(/^~(?=[\\/])/, homedir());
  if (!path.isAbsolute(file)) {
    throw new BinaryError(
      `The setting graphleak.path must be an absolute path or a program's name, not "${file}".`,
      true,
    );
  }
  await checkExecutable(file, true);
  return file;
}

async function findOnPath(name: string): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    // An empty entry stands for the working directory, which is the user's
    // project: nothing in it is started because of its name.
    if (!path.isAbsolute(folder)) {
      continue;
    }
    const file = path.join(folder, executableName(name));
    try {
      await checkExecutable(file, true);
      return file;
    } catch {
      // Look in the next folder.
    }
  }
  throw new BinaryError(`"${name}", set as graphleak.path, is not a program on the PATH.`, true);
}

async function checkExecutable(file: string, configured: boolean): Promise<void> {
  const origin = configured ? 'set as graphleak.path' : 'which this package of the extension should contain';
  const problem = await executableProblem(file);
  if (problem !== undefined) {
    const advice = configured ? '' : ' Reinstall the extension for this platform, or set graphleak.path.';
    throw new BinaryError(`The server ${file}, ${origin}, ${problem}.${advice}`, configured);
  }
}

async function executableProblem(file: string): Promise<string | undefined> {
  try {
    if (!(await stat(file)).isFile()) {
      return 'is not a file';
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code ?? String(error)})`;
  }
  try {
    await access(file, constants.X_OK);
  } catch {
    return 'is not executable';
  }
  return undefined;
}

function executableName(name: string): string {
  return process.platform === 'win32' && path.extname(name) === '' ? `${name}.exe` : name;
}
