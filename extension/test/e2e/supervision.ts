import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type Editor, until } from './editor';
import { scenario, type UseEditor } from './scenario';

const leak = 'total_loss += loss';

/** The server process: started, restarted when it dies, given up with a clear message. */
export function supervision(editor: UseEditor): void {
  describe('the server', () => {
    scenario('starts with the first Python file, and says so', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      assert.equal((await editor.serverPids()).length, 1);
    });

    scenario('comes back when it is killed, and so do its findings', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForSquiggle(leak, 'loss');
      const killed = await kill(editor);
      const pid = await nextServer(editor, killed);
      assert.notEqual(pid, killed);
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.waitForSquiggle(leak, 'loss');
      assert.equal(await editor.page.locator('.notification-toast').count(), 0);
    });

    scenario('is restarted on command', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForSquiggle(leak, 'loss');
      const [before] = await editor.serverPids();
      await editor.run('Graphleak: Restart Server');
      assert.notEqual(await nextServer(editor, before), before);
      await editor.waitForSquiggle(leak, 'loss');
    });

    scenario('stays stopped when it keeps dying, until the user restarts it', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      for (let deaths = 0; deaths < 6; deaths++) {
        await kill(editor);
      }
      const message = await editor.notification(/The server ended 6 times within 3 minutes/);
      await editor.waitForStatus(/Graphleak does not run/);
      assert.deepEqual(await editor.serverPids(), []);
      await editor.screenshot('server-given-up');
      await message.getByRole('button', { name: 'Restart' }).click();
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.waitForSquiggle(leak, 'loss');
    });

    scenario('that does not exist is reported with a way out', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.configure({ 'graphleak.path': '/no/such/graphleak' });
      const message = await editor.notification(
        /The server \/no\/such\/graphleak, set as graphleak\.path, does not exist/,
      );
      await editor.waitForStatus(/Graphleak does not run/);
      await editor.screenshot('server-missing');
      await message.getByRole('button', { name: 'Open Settings' }).click();
      await editor.page.locator('.settings-editor', { hasText: 'graphleak' }).waitFor();
      await editor.configure({});
      await editor.waitForStatus(/Graphleak is ready/);
    });

    scenario('that does not speak is reported with its last words', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.configure({ 'graphleak.path': '/bin/cat' });
      await editor.notification(
        /The server \/bin\/cat does not start: it ended with exit code 1: .*serve.*No such file/,
      );
      await editor.configure({});
      await editor.waitForStatus(/Graphleak is ready/);
    });
  });
}

/** Kills the running server, waiting for one if there is none yet, and returns which it was. */
async function kill(editor: Editor): Promise<number> {
  const pid = await until('a running server', async () => (await editor.serverPids())[0]);
  process.kill(pid, 'SIGKILL');
  await until('its end', async () => !(await editor.serverPids()).includes(pid));
  return pid;
}

/** Waits for a server other than the one before it. */
function nextServer(editor: Editor, before: number | undefined): Promise<number> {
  return until('the next server', async () => (await editor.serverPids()).find((pid) => pid !== before));
}
