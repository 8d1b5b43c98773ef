import assert from 'node:assert/strict';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { diagnoseLog, twice } from './diagnosis';
import { Editor, until } from './editor';
import { scenario } from './scenario';
import { DiagnosisView } from './view';

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

  scenario('a workspace of several folders is one, and each finding says where it is', use, async (editor) => {
    const other = path.join(path.dirname(editor.workspace), 'other');
    await cp('testdata/example', other, { recursive: true });
    const both = path.join(path.dirname(editor.workspace), 'both.code-workspace');
    await writeFile(both, JSON.stringify({ folders: [{ path: 'example' }, { path: 'other' }] }));
    await editor.visit({ workspace: both });
    await editor.run('Graphleak: Check All Files of the Workspace');
    await editor.waitForStatus(/8 findings/);
    const rows = editor.page.locator('.part.sidebar .monaco-list-row');
    await rows.filter({ hasText: 'example/train.py:32' }).waitFor();
    await rows.filter({ hasText: 'other/train.py:32' }).click();
    await editor.waitForPosition(32);
    await editor.copy(
      `Traceback (most recent call last):\n  File "${other}/train.py", line 31, in evaluate\n    logits = model(images)\n${outOfMemory}`,
    );
    await editor.run('Graphleak: Diagnose Clipboard');
    const view = new DiagnosisView(editor);
    await view.waitFor(/CUDA out of memory/);
    await view.button(/^other\/train\.py:32$/).waitFor();
    await editor.screenshot('several-folders');
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

const outOfMemory =
  'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 196.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 104.81 MiB is free. ' +
  'Including non-PyTorch memory, this process has 23.53 GiB memory in use. Of the allocated memory 23.05 GiB is allocated by PyTorch, and 43.62 MiB is reserved by PyTorch but unallocated.\n';

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
