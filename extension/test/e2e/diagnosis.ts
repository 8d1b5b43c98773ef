import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Locator } from 'playwright-core';
import { type Editor, until } from './editor';
import { documentedScreenshot, scenario, type UseEditor } from './scenario';

const log = 'crash.log';
// What the evaluation of the example keeps until the GPU is full.
const leak = 'val_loss += criterion(logits, labels)';

/** A crash log diagnosed beside the editor. */
export function diagnoses(editor: UseEditor): void {
  describe('the diagnosis of a crash log', () => {
    scenario('names the failure and the leak behind it, and leads to its line', editor, async (editor) => {
      await editor.open(log);
      await selectTraceback(editor);
      await editor.run('Graphleak: Diagnose Selection');
      const suspect = await diagnosedSuspect(editor);
      await documentedScreenshot(editor, 'diagnosis');
      await suspect.click();
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
      await editor.waitForPosition(await lineOfLeak(editor));
      await editor.screenshot('diagnosis-suspect');
    });

    scenario('needs no selection, and is replaced by the next one', editor, async (editor) => {
      await editor.open(log);
      await editor.run('Graphleak: Diagnose Selection');
      await diagnosedSuspect(editor);
      // The line before the traceback tells how far the run had come.
      await until('the epoch', async () => (await previewText(editor)).includes('epoch 1'));
      await editor.run('View: Focus First Editor Group');
      await selectTraceback(editor);
      await editor.run('Graphleak: Diagnose Selection');
      await until('the next diagnosis', async () => !(await previewText(editor)).includes('epoch 1'));
      assert.equal(await editor.page.locator('.tab', { hasText: 'Diagnosis of' }).count(), 1);
    });

    scenario('is refused for an empty editor, in words', editor, async (editor) => {
      await editor.run('File: New Untitled Text File');
      await editor.run('Graphleak: Diagnose Selection');
      await editor.notification(/nothing to diagnose in an empty editor/);
    });
  });
}

/** Selects all lines from the head of the traceback to the end. */
async function selectTraceback(editor: Editor): Promise<void> {
  await editor.clickLine('Traceback (most recent call last)');
  await editor.page.keyboard.press('Home');
  await editor.page.keyboard.press('Control+Shift+End');
}

/** Waits for a diagnosis that explains the example's crash, and returns the link to its suspect. */
async function diagnosedSuspect(editor: Editor): Promise<Locator> {
  const suspect = editor.preview.getByRole('link', { name: `train.py:${await lineOfLeak(editor)}` }).first();
  await suspect.waitFor();
  const text = await previewText(editor);
  assert.match(text, /out of memory/i);
  assert.match(text, /196(\.00)? MiB/);
  assert.match(text, /GL101/);
  assert.match(text, /val_loss/);
  return suspect;
}

function previewText(editor: Editor): Promise<string> {
  return editor.preview.locator('body').innerText();
}

async function lineOfLeak(editor: Editor): Promise<number> {
  const lines = (await editor.read('train.py')).split('\n');
  return lines.findIndex((line) => line.includes(leak)) + 1;
}
