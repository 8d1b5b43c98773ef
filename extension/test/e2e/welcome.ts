import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { scenario, type UseEditor } from './scenario';

/** What new users see first. */
export function welcome(editor: UseEditor): void {
  describe('the walkthrough', () => {
    scenario('opens the example in a window of its own, with its findings', editor, async (editor) => {
      const input = await editor.runAsking('Welcome: Open Walkthrough...', 'Select a walkthrough to open');
      await input.fill('Find memory leaks of PyTorch programs');
      await editor.page.keyboard.press('Enter');
      const walkthrough = editor.page.locator('.gettingStartedContainer');
      const open = walkthrough.getByRole('button', { name: 'Open the Example', exact: true });
      await open.waitFor();
      await editor.screenshot('walkthrough');
      const example = await editor.windowOpenedBy(() => open.click());
      await example.open('train.py');
      await example.waitForStatus(/\d findings/);
      await example.screenshot('example');
      await example.page.close();
      await walkthrough.getByText('Fix a leak').click();
      await walkthrough.getByRole('button', { name: 'Show the Findings', exact: true }).click();
      await editor.page.locator('.pane-header[aria-expanded="true"]', { hasText: 'Memory Findings' }).waitFor();
      assert.equal(await editor.page.locator('.notification-toast').count(), 0);
    });
  });
}
