import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { describeExit, startProcess } from '../../src/process';

/** Starts a Node program; every platform that runs these tests has Node. */
async function start(program: string, cwd?: string) {
  const lines: string[] = [];
  const server = await startProcess(process.execPath, ['-e', program], cwd, (line) => lines.push(line));
  return { server, lines };
}

describe('a server process', () => {
  it('speaks over standard input and output', async () => {
    const { server } = await start('process.stdin.pipe(process.stdout)');
    server.stdin.end('hello');
    assert.equal(await text(server.stdout), 'hello');
    assert.equal(describeExit(await server.exited), 'ended with exit code 0');
  });

  it('hands on what it logs, and its last words say why it ended', async () => {
    const { server, lines } = await start('console.error("one\\n\\ntwo\\n"); process.exitCode = 3');
    server.stdout.resume();
    assert.equal(describeExit(await server.exited), 'ended with exit code 3: two');
    assert.deepEqual(lines, ['one', 'two']);
  });

  it('can be killed, and tells the signal', { skip: process.platform === 'win32' }, async () => {
    const { server } = await start('setInterval(() => {}, 1000)');
    server.stdout.resume();
    server.kill();
    assert.equal(describeExit(await server.exited), 'was ended by SIGKILL');
  });

  it('survives input that comes after its end', async () => {
    const { server } = await start('process.exit()');
    server.stdout.resume();
    await server.exited;
    server.stdin.write('too late');
  });

  it('starts in the folder it is given', async () => {
    const { server } = await start('process.stdout.write(process.cwd())', process.cwd());
    assert.equal(await text(server.stdout), process.cwd());
  });

  it('fails to start with the reason of the operating system', async () => {
    await assert.rejects(
      startProcess('no-such-program', [], undefined, () => undefined),
      /ENOENT/,
    );
  });
});
