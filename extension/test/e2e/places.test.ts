import assert from 'node:assert/strict';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { diagnoseLog, twice } from './diagnosis';
import { Editor, until } from './editor';
import { scenario } from './scenario';

const leak = 'total_loss += loss';

// The kinds of workspaces in which less is possible, or more is asked for. Each
// test goes on where the one before it has left the window.
describe('Graphleak in VS Code, elsewhere', () => {
  let editor: Editor | undefined;
  const use = () => {
    if (editor === undefined) {
      throw new Error('VS Code has not started');
    }
    return editor;
  };

  before(async () => {
    editor = await Editor.start(fillWorkspace, { trust: false });
  });

  after(() => editor?.close());

  scenario(
    'a workspace that is not trusted is checked by the bundled server, and runs nothing',
    use,
    async (editor) => {
      await editor.open('train.py');
      await editor.page.locator('.statusbar-item[id="status.workspaceTrust"]').waitFor();
      // Its settings name another program, which does not exist.
      await editor.waitForStatus(/4 findings/);
      await editor.waitForSquiggle(leak, 'loss');
      assert.equal((await editor.serverPids()).length, 1);
      const view = await diagnoseLog(editor, 'twice.log', /A backward ran/);
      await view.button('Run in terminal…').click();
      await editor.notification(/runs no commands in a workspace that is not trusted/);
      await editor.screenshot('untrusted');
      assert.equal(await editor.page.locator('.terminal-wrapper').count(), 0);
      await view.button('Copy as Markdown').click();
      await until('the copy', async () => (await editor.clipboard()).startsWith('# '));
    },
  );

  scenario('once the workspace is trusted, its choice of a server counts', use, async (editor) => {
    await editor.open('train.py');
    await editor.waitForStatus(/Graphleak is ready/);
    await editor.run('Workspaces: Manage Workspace Trust');
    await editor.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await editor.notification(/The server \/no\/such\/graphleak, set as graphleak\.path, does not exist/);
    await rm(path.join(editor.workspace, '.vscode'), { recursive: true });
  });

  scenario('in a browser alone it says what is missing', use, async (editor) => {
    // The editor then runs the extension in the browser, as without a machine behind it.
    await editor.configureUser({ 'remote.extensionKind': { 'graphleak.graphleak': ['web'] } });
    await editor.visit({ folder: editor.workspace });
    await editor.open('train.py');
    const item = editor.page.locator('.statusbar-item[id="graphleak.graphleak.server"] a');
    await until('the status', async () =>
      ((await item.getAttribute('aria-label')) ?? '').includes('does not run in a browser alone'),
    );
    assert.deepEqual(await editor.serverPids(), []);
    await editor.run('Graphleak: Diagnose Clipboard');
    const message = await editor.notification(/has to start a program on the machine that has the files/);
    await editor.screenshot('browser-alone');
    await message.getByRole('button', { name: 'Read More' }).click();
    await editor.preview.getByRole('heading', { name: 'Where it is limited' }).waitFor();
    await editor.run('Explorer: Focus on Memory Findings View');
    await editor.page.locator('.welcome-view', { hasText: 'Nothing is checked here' }).waitFor();
  });
});

/** Copies the example, with settings that start another server. */
async function fillWorkspace(workspace: string): Promise<void> {
  await cp('testdata/example', workspace, { recursive: true });
  await cp(twice, path.join(workspace, 'twice.log'));
  await mkdir(path.join(workspace, '.vscode'), { recursive: true });
  await writeFile(
    path.join(workspace, '.vscode/settings.json'),
    JSON.stringify({ 'graphleak.path': '/no/such/graphleak' }),
  );
}
