import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type Editor, until } from './editor';
import { documentedScreenshot, scenario, type UseEditor } from './scenario';
import { DiagnosisView } from './view';

const log = 'crash.log';
const title = /CUDA out of memory because memory of every step is kept/;
/** A log whose diagnosis has a command to verify it with. */
export const twice = 'testdata/logs/autograd.backward-twice/hidden-state-plain.txt';
// What the evaluation of the example keeps until the GPU is full.
const leak = 'val_loss += criterion(logits, labels)';

/** What the view of a diagnosis shows, and what can be done there. */
export function diagnoses(editor: UseEditor): void {
  describe('the diagnosis of a crash log', () => {
    scenario('shows the failure, where the memory went and the leak behind it', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      const text = await view.text();
      assert.match(text, /memory\.cuda-oom\.graph-retained/);
      assert.match(text, /confidence medium/);
      assert.match(text, /val_loss/);
      const memory = await view.part('Where the memory went').innerText();
      assert.match(memory, /live tensors\s+23\.05 GiB\s+97\.5 %/);
      assert.match(memory, /requested\s+196\.00 MiB/);
      await editor.run('View: Close Primary Side Bar');
      await documentedScreenshot(editor, 'diagnosis');
      await editor.run('View: Toggle Primary Side Bar Visibility');
    });

    scenario('leads to the line of the leak, and of the log', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      await view.button(`train.py:${await lineOfLeak(editor)}`).click();
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
      await editor.waitForPosition(await lineOfLeak(editor));
      await view.button('line 17').click();
      await editor.page.locator(`.tab.active[data-resource-name="${log}"]`).waitFor();
      await editor.waitForPosition(17);
    });

    scenario('applies the fix of a suspect', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      await view.button(/^Fix: /).click();
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
      await until('the fix', async () => (await editor.text()).includes('criterion(logits, labels).detach()'));
    });

    scenario('knows where a selection is from, and is replaced by the next one', editor, async (editor) => {
      await editor.open(log);
      await editor.clickLine('Traceback (most recent call last)');
      await editor.page.keyboard.press('Home');
      await editor.page.keyboard.press('Control+Shift+End');
      await editor.page.keyboard.press('Control+Alt+g');
      const view = new DiagnosisView(editor);
      await view.waitFor(title);
      assert.doesNotMatch(await view.text(), /epoch 1/);
      // Line 16 of what is selected is line 17 of the log.
      await view.button('line 16').click();
      await editor.waitForPosition(17);
      await editor.run('View: Focus First Editor Group');
      await editor.page.keyboard.press('Control+Home');
      await editor.run('Graphleak: Diagnose Selection');
      await until('the next diagnosis', async () => (await view.text()).includes('epoch 1'));
      assert.equal(await editor.page.locator('.tab', { hasText: 'Diagnosis of' }).count(), 1);
    });

    scenario('is copied as Markdown, redacted', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      await view.button('Copy as Markdown').click();
      const copied = await until('the copy', async () => {
        const text = await editor.clipboard();
        return text.includes('# CUDA out of memory') && text;
      });
      assert.match(copied, /train\.py:\d+:\d+ GL101/);
    });

    scenario('runs its command in a terminal, once the user has seen it', editor, async (editor) => {
      const view = await diagnoseLog(editor, 'twice.log', /A backward ran/);
      const asked = editor.page.locator('.quick-input-widget:visible', { hasText: 'Run in a terminal' });
      await view.button('Run in terminal…').click();
      await asked.waitFor();
      assert.match(await asked.locator('input').inputValue(), /^python /);
      await editor.page.keyboard.press('Escape');
      await asked.waitFor({ state: 'hidden' });
      assert.equal(await editor.page.locator('.terminal-wrapper:visible').count(), 0);
      await view.button('Run in terminal…').click();
      await asked.locator('input').fill('echo it "has run"');
      await editor.screenshot('run-in-terminal');
      await editor.page.keyboard.press('Enter');
      await editor.page.locator('.terminal-wrapper.active .xterm-screen').first().waitFor();
      await until('its output', () => editor.terminalShows('it has run'));
      await editor.run('Terminal: Kill All Terminals');
    });

    scenario('is refused for an empty editor, in words', editor, async (editor) => {
      await editor.run('File: New Untitled Text File');
      await editor.run('Graphleak: Diagnose Selection');
      await editor.notification(/there is nothing to diagnose in/);
    });
  });
}

/** Opens the log of the example and diagnoses all of it. */
export async function diagnoseLog(editor: Editor, name = log, expected = title): Promise<DiagnosisView> {
  await editor.open(name);
  await editor.run('Graphleak: Diagnose Selection');
  const view = new DiagnosisView(editor);
  await view.waitFor(expected);
  return view;
}

async function lineOfLeak(editor: Editor): Promise<number> {
  const lines = (await editor.read('train.py')).split('\n');
  return lines.findIndex((line) => line.includes(leak)) + 1;
}
