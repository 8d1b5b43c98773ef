import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import type { Editor } from './editor';

/** Hands a test the editor, which is only there once it has been started. */
export type UseEditor = () => Editor;

// Longer than what any test waits for, so that the wait itself says what failed.
const testTimeoutMs = 180_000;

/** Declares a test in the editor; a failure leaves a screenshot. */
export function scenario(name: string, editor: UseEditor, test: (editor: Editor) => Promise<void>): void {
  it(name, { timeout: testTimeoutMs }, async () => {
    try {
      await test(editor());
    } catch (error) {
      await editor().screenshot(`failed-${name.replaceAll(/\W+/g, '-')}`);
      throw error;
    } finally {
      await editor().tidy();
    }
  });
}

/**
 * Takes a picture. Those of the documentation are copied to docs/images when
 * asked for, because they change a little with each version of the editor.
 */
export async function documentedScreenshot(editor: Editor, name: string, { fine = false } = {}): Promise<void> {
  const file = fine ? await editor.fineScreenshot(name) : await editor.screenshot(name);
  if (process.env['UPDATE_SCREENSHOTS'] !== undefined) {
    const documentation = 'docs/images';
    await mkdir(documentation, { recursive: true });
    await copyFile(file, path.join(documentation, `${name}.png`));
  }
}
