import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe } from 'node:test';
import { type Editor, until } from './editor';
import { scenario, type UseEditor } from './scenario';
import { DiagnosisView } from './view';

const leak = /CUDA out of memory because memory of every step is kept/;
const noGraph = /backward.*graph|graph.*backward|require grad/i;
const traceback = [
  'Traceback (most recent call last):',
  '  File "/workspace/example/train.py", line 19, in train_epoch',
  '    loss.backward()',
  'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn',
];

/** The places that a failure is diagnosed from. */
export function sources(editor: UseEditor): void {
  describe('a failure is diagnosed', () => {
    scenario('from a file in the Explorer', editor, async (editor) => {
      await editor.chooseInExplorer(['crash.log'], 'Diagnose File');
      await new DiagnosisView(editor).waitFor(leak);
    });

    scenario('from several files, and from a folder of rank logs', editor, async (editor) => {
      await rankLogs(editor);
      await editor.chooseInExplorer(['rank0.log', 'rank1.log'], 'Diagnose File');
      const view = new DiagnosisView(editor);
      await view.waitFor(/CUDA out of memory/);
      assert.match(await view.text(), /rank 1/);
      await editor.page.keyboard.press('Escape');
      await editor.tidy();
      await rankLogs(editor);
      await editor.chooseInExplorer(['incident'], 'Diagnose File');
      await view.waitFor(/CUDA out of memory/);
      assert.match(await view.text(), /rank1\.log/);
      await rm(path.join(editor.workspace, 'incident'), { recursive: true });
    });

    scenario('from the clipboard, and the text is there to read', editor, async (editor) => {
      await editor.copy(traceback.join('\n'));
      await editor.run('Graphleak: Diagnose Clipboard');
      const view = new DiagnosisView(editor);
      await view.waitFor(noGraph);
      await view.button('line 4').click();
      await editor.page.locator('.tab.active[data-resource-name="the clipboard.log"]').waitFor();
      await editor.waitForPosition(4);
    });

    scenario('by the lightbulb on a traceback in any text', editor, async (editor) => {
      await writeFile(path.join(editor.workspace, 'notes.md'), ['# Notes', '', ...traceback, ''].join('\n'));
      await editor.open('notes.md');
      await editor.waitForStatus(/Graphleak/);
      await editor.clickLine('loss.backward()');
      await (await editor.quickFix(/Diagnose this failure/)).click();
      await new DiagnosisView(editor).waitFor(noGraph);
      await rm(path.join(editor.workspace, 'notes.md'));
    });

    scenario('from a command that fails in a terminal, which is offered', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      const offer = editor.page.locator('.statusbar-item[id="graphleak.graphleak.offer"]');
      await until('the offer', async () => {
        // Of some commands the editor hands out no output, mostly of the first one.
        await editor.terminal('cat crash.log; false');
        return offer.waitFor({ timeout: 4000 }).then(
          () => true,
          () => false,
        );
      });
      assert.match((await offer.locator('a').getAttribute('aria-label')) ?? '', /CUDA out of memory/);
      await editor.screenshot('terminal-offer');
      await offer.click();
      const view = new DiagnosisView(editor);
      await view.waitFor(leak);
      await editor.run('View: Close All Editors');
      await editor.terminal('true');
      await offer.waitFor({ state: 'hidden' });
      await editor.run('Graphleak: Diagnose Last Failed Command');
      await view.waitFor(leak);
    });

    scenario('from a failed command without an offer, when that is turned off', editor, async (editor) => {
      await editor.configure({ 'graphleak.terminal.offerDiagnosis': false });
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.terminal('cat crash.log; (exit 3)');
      await until('the output', () => editor.terminalShows('OutOfMemoryError'));
      await editor.run('Graphleak: Diagnose Last Failed Command');
      await new DiagnosisView(editor).waitFor(leak);
      assert.equal(await editor.page.locator('.statusbar-item[id="graphleak.graphleak.offer"]:visible').count(), 0);
      await editor.configure({});
    });

    scenario('from what is selected in a terminal, and the clipboard stays', editor, async (editor) => {
      await editor.copy('what the user has copied');
      await editor.terminal('clear; cat crash.log');
      await until('the output', () => editor.terminalShows('OutOfMemoryError'));
      await editor.run('Terminal: Select All');
      await editor.run('Graphleak: Diagnose Terminal Selection');
      await new DiagnosisView(editor).waitFor(/CUDA out of memory/);
      assert.equal(await editor.clipboard(), 'what the user has copied');
    });

    scenario('from the error of a notebook cell', editor, async (editor) => {
      await editor.open('failed.ipynb');
      const offer = editor.page.locator('.cell-status-item', { hasText: 'Diagnose error' }).first();
      await offer.waitFor();
      await editor.screenshot('notebook-error');
      await offer.click();
      await new DiagnosisView(editor).waitFor(noGraph);
    });

    scenario('from the exception that a debugger stops at', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.run('Fixture: Debug');
      const button = editor.page.locator('.debug-toolbar [aria-label*="Diagnose Debug Exception"]');
      await button.waitFor();
      await button.click();
      await new DiagnosisView(editor).waitFor(noGraph);
      await editor.run('Debug: Stop');
      await button.waitFor({ state: 'hidden' });
    });

    scenario('from the message of a failed test', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      await editor.run('Fixture: Fail a Test');
      await editor.run('Test Results: Focus on Test Results View');
      const failed = editor.page
        .locator('.test-output-peek-tree .monaco-list-row', { hasText: 'test_backward' })
        .first();
      await failed.click();
      await editor.screenshot('test-failure');
      await editor.page.locator('.test-output-peek, .panel').getByText('Diagnose Test Failure').first().click();
      await new DiagnosisView(editor).waitFor(noGraph);
    });

    scenario('in a log of 200 MB, without moving it through the protocol', editor, async (editor) => {
      const file = path.join(editor.workspace, 'large.log');
      await pipeline(Readable.from(largeLog(200 << 20)), createWriteStream(file));
      const before = await editor.memoryOfServer();
      await editor.chooseInExplorer(['large.log'], 'Diagnose File');
      await new DiagnosisView(editor).waitFor(noGraph);
      const grown = (await editor.memoryOfServer()) - before;
      assert.ok(grown < 100 << 20, `the server has grown by ${grown >> 20} MiB`);
      await rm(file);
    });
  });
}

/** Writes the logs of two ranks: one is out of memory, the other loses it. */
async function rankLogs(editor: Editor): Promise<void> {
  const crash = await editor.read('crash.log');
  const lost =
    '[rank0]: Traceback (most recent call last):\n[rank0]:   File "/workspace/example/train.py", line 19, in train_epoch\n[rank0]:     loss.backward()\n' +
    '[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error\n';
  await mkdir(path.join(editor.workspace, 'incident'), { recursive: true });
  await writeFile(path.join(editor.workspace, 'incident/rank0.log'), lost);
  await writeFile(path.join(editor.workspace, 'incident/rank1.log'), crash);
}

/** A run that prints a lot, and fails at the end. */
function* largeLog(size: number): Generator<string> {
  const chunk = Array.from(
    { length: 10_000 },
    (_, i) => `worker ${i % 8} processed shard ${i} of the data set in 0.31 s`,
  ).join('\n');
  for (let written = 0; written < size; written += chunk.length + 1) {
    yield `${chunk}\n`;
  }
  yield `${traceback.join('\n')}\n`;
}
