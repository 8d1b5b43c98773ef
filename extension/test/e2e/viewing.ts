import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { diagnoseLog } from './diagnosis';
import { type Editor, until } from './editor';
import { documentedScreenshot, scenario, type UseEditor } from './scenario';
import type { DiagnosisView } from './view';

const title = /CUDA out of memory because memory of every step is kept/;

/** How the view of a diagnosis looks and behaves in an editor that people use. */
export function viewing(editor: UseEditor): void {
  describe('the view of a diagnosis', () => {
    scenario('draws the growth of memory, with the line through it', editor, async (editor) => {
      const view = await diagnoseSample(editor, 'growth-linear.txt');
      const growth = view.part('How the memory grew');
      await growth.scrollIntoViewIfNeeded();
      const label = (await growth.getByRole('img').getAttribute('aria-label')) ?? '';
      assert.match(label, /MiB\/step/);
      await documentedScreenshot(editor, 'growth');
    });

    scenario('shows the ranks in their order', editor, async (editor) => {
      const view = await diagnoseSample(editor, 'ranks-oom-then-watchdogs.txt');
      const ranks = view.part('The ranks, in order');
      await ranks.scrollIntoViewIfNeeded();
      assert.match(await ranks.innerText(), /started it/);
      await editor.screenshot('ranks');
    });

    scenario('follows the theme, and fits into a narrow panel', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      for (const theme of ['Default Light Modern', 'Default High Contrast']) {
        await editor.configure({ 'workbench.colorTheme': theme });
        await view.part('Where the memory went').scrollIntoViewIfNeeded();
        await editor.screenshot(theme.toLowerCase().replaceAll(' ', '-'));
      }
      await editor.configure({});
      await editor.page.setViewportSize({ width: 700, height: 800 });
      try {
        await view.waitFor(title);
        await editor.screenshot('narrow');
        await view.fits();
      } finally {
        await editor.page.setViewportSize({ width: 1280, height: 800 });
      }
    });

    scenario('is used with the keyboard alone', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      const suspect = view.button(/^train\.py:32$/);
      await until('the suspect to have the focus', async () => {
        await editor.page.keyboard.press('Tab');
        return suspect.evaluate((element) => element === element.ownerDocument.activeElement);
      });
      await editor.page.keyboard.press('Enter');
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
      await editor.waitForPosition(32);
    });

    scenario('is still there when the server has died, and its fix works', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      const [pid] = await editor.serverPids();
      assert.ok(pid !== undefined);
      process.kill(pid, 'SIGKILL');
      await until('another server', async () => (await editor.serverPids()).some((other) => other !== pid));
      await editor.waitForStatus(/Graphleak is ready/);
      assert.match(await view.text(), title);
      await view.button(/^Fix: /).click();
      await until('the fix', async () => (await editor.text()).includes('criterion(logits, labels).detach()'));
    });

    scenario('comes back when the window is reloaded, with what was ticked off', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      const box = view.part('What is missing to be sure').getByRole('checkbox').first();
      await box.check();
      await editor.reload();
      await view.waitFor(title);
      assert.ok(await box.isChecked());
      await view.button(/^train\.py:32$/).click();
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
    });
  });
}

/** Diagnoses a log of the tests of the server. */
function diagnoseSample(editor: Editor, name: string): Promise<DiagnosisView> {
  return diagnoseLog(editor, name, /./);
}
