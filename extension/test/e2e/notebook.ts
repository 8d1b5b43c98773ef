import { describe } from 'node:test';
import { until } from './editor';
import { scenario, type UseEditor } from './scenario';

const leak = 'total_loss += loss';

/** Leaks in the cells of a notebook. */
export function notebooks(editor: UseEditor): void {
  describe('a leak in a notebook cell', () => {
    scenario('is underlined, and gone after its quick fix', editor, async (editor) => {
      await editor.open('train.ipynb');
      const notebook = editor.page.locator('.notebookOverlay');
      await editor.waitForSquiggle(leak, 'loss', notebook);
      await editor.screenshot('notebook');
      await editor.clickLine(leak, notebook);
      const fix = await editor.quickFix(/Detach/);
      await fix.click();
      await until('the fix', async () => (await editor.text(notebook)).includes('total_loss += loss.detach()'));
      await editor.squiggles(notebook).first().waitFor({ state: 'hidden' });
    });
  });
}
