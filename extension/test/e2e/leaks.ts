import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { diagnoseLog } from './diagnosis';
import { until } from './editor';
import { documentedScreenshot, scenario, type UseEditor } from './scenario';

const leak = 'total_loss += loss';
const fixed = /total_loss \+= loss\.detach\(\)/;

/** A leak in a script: seen, explained, fixed, and seen again when it comes back. */
export function leaks(editor: UseEditor): void {
  describe('a leak in a script', () => {
    scenario('is underlined, and explained on hover', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForSquiggle(leak, 'loss');
      const hover = await editor.hover(leak, 'loss');
      const text = await hover.innerText();
      assert.match(text, /GL101/);
      assert.match(text, /total_loss/);
      assert.match(text, /graph/);
      await documentedScreenshot(editor, 'editor');
    });

    scenario('is seen beside what it has led to', editor, async (editor) => {
      const view = await diagnoseLog(editor);
      await view.button('train.py:32').click();
      await editor.waitForSquiggle(leak, 'loss');
      await editor.run('View: Close Primary Side Bar');
      await editor.page.setViewportSize({ width: 1120, height: 700 });
      try {
        await editor.clickLine('optimizer.step()');
        const hover = await editor.hover(leak, 'loss');
        await hover.getByText('each iteration of this loop adds to it').waitFor();
        await documentedScreenshot(editor, 'overview', { fine: true });
      } finally {
        await editor.page.setViewportSize({ width: 1280, height: 800 });
        await editor.run('View: Toggle Primary Side Bar Visibility');
      }
    });

    scenario('is gone after its quick fix, and nothing else has changed', editor, async (editor) => {
      await editor.open('train.py');
      await editor.waitForSquiggle(leak, 'loss');
      const before = await editor.read('train.py');
      const others = (await editor.squiggles().count()) - 1;
      await editor.clickLine(leak);
      const fix = await editor.quickFix(/Detach/);
      await editor.screenshot('quick-fix');
      await fix.click();
      await until('the fix', async () => (await editor.text()).includes('total_loss += loss.detach()'));
      await editor.squiggles().nth(others).waitFor({ state: 'hidden' });
      await editor.run('File: Save');
      const after = await until('the saved file', async () => {
        const text = await editor.read('train.py');
        return text !== before && text;
      });
      assert.match(after, fixed);
      assert.equal(after.replace(fixed, leak), before);
    });

    scenario('disappears and comes back with fast typing', editor, async (editor) => {
      const { keyboard } = editor.page;
      const cure = '.detach()';
      const erase = async () => {
        await keyboard.press('Shift+Home');
        await keyboard.type(leak);
      };
      await editor.open('train.py');
      await editor.waitForSquiggle(leak, 'loss');
      const others = (await editor.squiggles().count()) - 1;
      await editor.clickLine(leak);
      await keyboard.press('End');
      for (let round = 0; round < 5; round++) {
        await keyboard.type(cure);
        await erase();
      }
      await keyboard.type(cure);
      await editor.squiggles().nth(others).waitFor({ state: 'hidden' });
      await erase();
      await editor.waitForSquiggle(leak, 'loss');
      assert.equal(await editor.squiggles().count(), others + 1);
    });
  });
}
