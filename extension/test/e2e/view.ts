import assert from 'node:assert/strict';
import type { FrameLocator, Locator } from 'playwright-core';
import type { Editor } from './editor';

/** The view of a diagnosis, as people see it. */
export class DiagnosisView {
  constructor(readonly editor: Editor) {}

  get frame(): FrameLocator {
    return this.editor.page.locator('iframe.webview.ready').last().contentFrame().frameLocator('#active-frame');
  }

  /** Waits until a failure is shown. */
  async waitFor(title: RegExp): Promise<void> {
    await this.frame.getByRole('heading', { level: 1, name: title }).waitFor();
  }

  /** A part of the page by its heading. */
  part(heading: string): Locator {
    return this.frame.getByRole('region', { name: heading, exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name }).first();
  }

  text(): Promise<string> {
    return this.frame.locator('main').innerText();
  }

  /** Checks that what is shown fits into its width. */
  async fits(): Promise<void> {
    const html = this.frame.locator('html');
    const { content, width } = await html.evaluate((root) => ({ content: root.scrollWidth, width: root.clientWidth }));
    assert.ok(content <= width, `the page is ${content} pixels wide, the panel ${width}`);
  }
}
