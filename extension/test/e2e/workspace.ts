import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { until } from './editor';
import { documentedScreenshot, scenario, type UseEditor } from './scenario';

/** The findings of a workspace, and what there is to read about them. */
export function workspace(editor: UseEditor): void {
  describe('the workspace', () => {
    scenario('is checked as a whole, and its findings are listed by memory', editor, async (editor) => {
      await editor.run('Graphleak: Check All Files of the Workspace');
      const row = (text: string) => editor.page.locator('.part.sidebar .monaco-list-row', { hasText: text }).first();
      await row('GPU memory that grows').waitFor();
      await editor.waitForStatus(/\d findings/);
      await row('train.py:32').click();
      await editor.page.locator('.tab.active[data-resource-name="train.py"]').waitFor();
      await editor.waitForPosition(32);
      await editor.roomFor('Memory Findings');
      await documentedScreenshot(editor, 'findings');
      await editor.roomFor('Folders');
    });

    scenario('has all its safe fixes applied, after a preview', editor, async (editor) => {
      const before = await editor.read('train.py');
      await editor.run('Graphleak: Check All Files of the Workspace');
      await editor.waitForStatus(/\d findings/);
      await editor.run('Graphleak: Fix All Safe in Workspace…');
      const apply = editor.page.locator('.bulk-edit-panel').getByRole('button', { name: 'Apply' }).first();
      await apply.waitFor();
      await editor.screenshot('fix-all');
      assert.equal(await editor.read('train.py'), before);
      // What needs a confirmation is applied when it is ticked.
      for (const box of await editor.page.locator('.bulk-edit-panel .edit-checkbox').all()) {
        if (!(await box.isChecked())) {
          await box.check();
        }
      }
      await apply.click();
      const after = await until('the fixes', async () => {
        const text = await editor.read('train.py');
        return text !== before && text;
      });
      assert.match(after, /total_loss \+= loss\.detach\(\)/);
      // The notebook has not been opened.
      await until('the fixes in the notebook', async () =>
        (await editor.read('train.ipynb')).includes('total_loss += loss.detach()'),
      );
    });

    scenario('has a page about each failure, found by its message', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/Graphleak is ready/);
      const input = await editor.runAsking('Graphleak: Explain a Rule or Failure', 'Name, words, or an error message');
      await input.fill('RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn');
      await editor.page
        .locator('.quick-input-widget .monaco-list-row.focused', { hasText: 'autograd.no-graph' })
        .waitFor();
      await editor.page.keyboard.press('Enter');
      await editor.preview.getByRole('heading', { level: 1 }).waitFor();
      await editor.screenshot('page');
      assert.match(await editor.preview.locator('body').innerText(), /autograd\.no-graph/);
    });

    scenario('has the code of a finding lead to the page about its rule', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForSquiggle('total_loss += loss', 'loss');
      const hover = await editor.hover('total_loss += loss', 'loss');
      await hover.locator('a.code-link', { hasText: 'GL101' }).first().click();
      await editor.preview.getByRole('heading', { level: 1 }).waitFor();
      assert.match(await editor.preview.locator('body').innerText(), /GL101/);
      // One page leads to the next, in the editor.
      await editor.preview.getByRole('link', { name: 'GL102', exact: true }).click();
      await editor.preview.getByRole('heading', { name: /container keeps the graph/ }).waitFor();
    });
  });
}
