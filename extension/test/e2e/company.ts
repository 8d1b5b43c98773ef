import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { until } from './editor';
import { scenario, type UseEditor } from './scenario';

const leak = 'total_loss += loss';

/** Another extension that checks the same code, as ruff and Pyright do. */
export function company(editor: UseEditor): void {
  describe('beside another linter', () => {
    scenario('both say what they find, and each fixes its own', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForStatus(/\d findings/);
      await editor.run('Fixture: Lint');
      await editor.waitForSquiggle(leak, 'total_loss');
      const hover = await editor.hover(leak, 'loss');
      await until('both in the hover', async () => /GL101[^]*FX001|FX001[^]*GL101/.test(await hover.innerText()));
      // The count is of our findings alone.
      await editor.waitForStatus(/\d findings/);
      await editor.clickLine(leak);
      const fix = await editor.quickFix(/Detach/);
      await editor.page.locator('.action-widget', { hasText: 'Rename to running_loss' }).waitFor();
      await editor.screenshot('beside-a-linter');
      await fix.click();
      await until('the fix', async () => (await editor.text()).includes('total_loss += loss.detach()'));
      await editor.clickLine(leak);
      await (await editor.quickFix('Rename to running_loss')).click();
      await until('the other fix', async () => (await editor.text()).includes('running_loss += loss.detach()'));
    });

    scenario('saving fixes what both call safe, when the user asks for it', editor, async (editor) => {
      await editor.configure({
        'editor.codeActionsOnSave': { 'source.fixAll.graphleak': 'explicit', 'source.organizeImports': 'explicit' },
      });
      await editor.open('train.py');
      await editor.waitForStatus(/\d findings/);
      await editor.run('File: Save');
      const saved = await until('the fixes', async () => {
        const text = await editor.read('train.py');
        return text.includes('loss.detach()') && text;
      });
      assert.match(saved, /import argparse\n# organized\n/);
      await editor.configure({});
    });
  });
}
