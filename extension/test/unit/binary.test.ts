import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BinaryError, findBinary } from '../../src/binary';

const executable = process.platform === 'win32' ? 'graphleak.exe' : 'graphleak';

describe('the server to start', () => {
  let folder: string;
  let bundled: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'graphleak-binary-'));
    bundled = path.join(folder, 'extension', 'bin', executable);
    await mkdir(path.dirname(bundled), { recursive: true });
    await writeFile(bundled, '');
    await chmod(bundled, 0o755);
  });

  after(() => rm(folder, { recursive: true }));

  const find = (configured: string, extension = 'extension') =>
    findBinary({ configured, extensionPath: path.join(folder, extension) });

  /** Asserts that there is no server for a setting, and returns why. */
  async function problem(configured: string, extension?: string): Promise<BinaryError> {
    try {
      await find(configured, extension);
    } catch (error) {
      assert.ok(error instanceof BinaryError, String(error));
      return error;
    }
    assert.fail(`${configured} was accepted`);
  }

  it('is the bundled one without a setting', async () => {
    assert.equal(await find(''), bundled);
    assert.equal(await find('  '), bundled);
  });

  it('is the one that the setting names', async () => {
    assert.equal(await find(bundled), bundled);
  });

  it('is found on the PATH by its name', async () => {
    const saved = process.env['PATH'];
    process.env['PATH'] = ['', path.join(folder, 'missing'), path.dirname(bundled)].join(path.delimiter);
    try {
      assert.equal(await find('graphleak'), bundled);
      assert.match((await problem('no-such-program')).message, /not a program on the PATH/);
    } finally {
      process.env['PATH'] = saved;
    }
  });

  it('may be given relative to the home folder', async () => {
    const { message } = await problem('~/no-such-folder/graphleak');
    assert.ok(message.includes(path.join(homedir(), 'no-such-folder')), message);
  });

  it('is refused when the package does not contain it, with advice', async () => {
    const error = await problem('', 'other');
    assert.match(error.message, /does not exist\. Reinstall the extension/);
    assert.equal(error.configured, false);
  });

  it('is refused when it is a folder, or relative', async () => {
    assert.match((await problem(folder)).message, /is not a file/);
    assert.match((await problem('bin/graphleak')).message, /must be an absolute path/);
  });

  it('is refused when it is not executable', { skip: process.platform === 'win32' }, async () => {
    const file = path.join(folder, 'text');
    await writeFile(file, 'print("hello")');
    await chmod(file, 0o644);
    const error = await problem(file);
    assert.match(error.message, /set as graphleak\.path, is not executable/);
    assert.equal(error.configured, true);
  });
});
