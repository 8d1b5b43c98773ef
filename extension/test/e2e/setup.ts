import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const manifests = 'extension/test/e2e/vscode';
const folder = path.resolve('.cache/e2e');

/** Programs that the editor tests need, as paths. */
export interface Tools {
  /** The Node.js that code-server runs on. */
  readonly node: string;
  /** The entry script of code-server. */
  readonly codeServer: string;
  readonly chromium: string;
}

/**
 * Installs what the editor tests need, unless it is there: code-server into
 * .cache/e2e, and Debian's Chromium.
 */
export async function setUp(): Promise<Tools> {
  if (process.platform !== 'linux') {
    throw new Error(`the editor tests run on Linux, not on ${process.platform}`);
  }
  const chromium = findChromium() ?? installChromium();
  const stamp = await stampOfManifests();
  const stampFile = path.join(folder, 'stamp');
  if (!existsSync(stampFile) || (await readFile(stampFile, 'utf8')) !== stamp) {
    await installCodeServer();
    await writeFile(stampFile, stamp);
  }
  return {
    node: path.join(folder, `node_modules/node-linux-${process.arch}/bin/node`),
    codeServer: path.join(folder, 'node_modules/code-server/out/node/entry.js'),
    chromium,
  };
}

function findChromium(): string | undefined {
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) => existsSync(file));
}

function installChromium(): string {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('the editor tests need Chromium: install it first, on Debian with "apt-get install chromium"');
  }
  console.log('Installing Chromium for the editor tests');
  run('/', 'apt-get', ['update', '-qq']);
  run('/', 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium']);
  const chromium = findChromium();
  if (chromium === undefined) {
    throw new Error('apt-get installed Chromium, but /usr/bin/chromium does not exist');
  }
  return chromium;
}

/** Identifies the versions to install; a change of it leads to a fresh installation. */
async function stampOfManifests(): Promise<string> {
  const hash = createHash('sha256').update(process.arch);
  for (const name of ['package.json', 'package-lock.json']) {
    hash.update(await readFile(path.join(manifests, name)));
  }
  return hash.digest('hex');
}

async function installCodeServer(): Promise<void> {
  console.log('Installing VS Code for the editor tests into .cache/e2e (about a minute, 0.8 GB)');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(path.join(manifests, name), path.join(folder, name));
  }
  // Without install scripts nothing is compiled. The modules that are missing
  // then only write log files and watch the parent process.
  run(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  const vscode = path.join(folder, 'node_modules/code-server/lib/vscode');
  for (const part of [vscode, path.join(vscode, 'extensions')]) {
    run(part, 'npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']);
  }
  // code-server makes these links in an install script.
  await copyFile(path.join(vscode, 'bin/helpers/browser-linux.sh'), path.join(vscode, 'bin/helpers/browser.sh'));
  await copyFile(path.join(vscode, 'bin/remote-cli/code-linux.sh'), path.join(vscode, 'bin/remote-cli/code-server'));
}

function run(cwd: string, command: string, args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    // Inside "npm run", npm describes the package it runs for in the
    // environment, which another npm would take for its own settings.
    const own = Object.fromEntries(
      Object.entries(env).filter(([name]) => !/^npm_(?!config_(cache|registry))/i.test(name)),
    );
    execFileSync(command, args, { cwd, env: own, stdio: 'pipe' });
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer };
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}:\n${stderr?.toString() ?? String(error)}`, {
      cause: error,
    });
  }
}
