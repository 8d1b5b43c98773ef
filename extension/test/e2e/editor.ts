import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createVSIX } from '@vscode/vsce';
import { type BrowserContext, chromium, type FrameLocator, type Locator, type Page } from 'playwright-core';
import { setUp, type Tools } from './setup';

const waitMs = 20_000;

// A quiet editor: no welcome pages, no updates, no other features that change
// what the screen shows.
const settings = {
  'workbench.colorTheme': 'Default Dark Modern',
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.layoutControl.enabled': false,
  'workbench.editor.useModal': 'off',
  'workbench.editor.restoreViewState': false,
  'window.commandCenter': false,
  'chat.disableAIFeatures': true,
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'editor.minimap.enabled': false,
  'editor.hover.above': false,
  'editor.stickyScroll.enabled': false,
  'editor.accessibilitySupport': 'off',
  'editor.suggestOnTriggerCharacters': false,
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.wordBasedSuggestions': 'off',
  'editor.autoClosingBrackets': 'never',
  'files.hotExit': 'off',
  'terminal.integrated.gpuAcceleration': 'off',
  'terminal.integrated.initialHint': false,
  'terminal.integrated.suggest.enabled': false,
  'git.enabled': false,
};

/** A rectangle on the screen. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A real VS Code with the packaged extension, driven in headless Chromium. */
export class Editor {
  private constructor(
    readonly page: Page,
    /** The opened folder. */
    readonly workspace: string,
    private readonly folder: string,
    private readonly context: BrowserContext,
    private readonly codeServerPid: number,
    private readonly url: string,
    private readonly fill: (workspace: string) => Promise<void>,
  ) {}

  /**
   * Starts VS Code with a fresh profile, the extension and a workspace folder
   * filled by fill. Without trust, the workspace is not trusted.
   */
  static async start(fill: (workspace: string) => Promise<void>, { trust = true } = {}): Promise<Editor> {
    const tools = await setUp();
    const folder = await mkdtemp(path.join(tmpdir(), 'graphleak-e2e-'));
    const workspace = path.join(folder, 'example');
    await mkdir(path.join(folder, 'data/User'), { recursive: true });
    await mkdir(workspace);
    await writeFile(path.join(folder, 'data/User/settings.json'), JSON.stringify(settings));
    await fill(workspace);
    const { pid, url } = await startCodeServer(tools, folder, trust);
    let context: BrowserContext | undefined;
    try {
      context = await chromium.launchPersistentContext(path.join(folder, 'chromium'), {
        executablePath: tools.chromium,
        viewport: { width: 1280, height: 800 },
        // Nothing leaves this machine.
        args: ['--disable-gpu', '--disable-quic', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
      });
      context.setDefaultTimeout(waitMs);
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
      const page = context.pages()[0] ?? (await context.newPage());
      const editor = new Editor(page, workspace, folder, context, pid, url, fill);
      await editor.visit({ folder: workspace });
      return editor;
    } catch (error) {
      await context?.close();
      process.kill(-pid, 'SIGKILL');
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.context.close();
    process.kill(-this.codeServerPid, 'SIGTERM');
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** Opens a folder, or a workspace of several, in the window. */
  async visit(what: { readonly folder: string } | { readonly workspace: string }): Promise<void> {
    await this.page.goto(`${this.url}/?${new URLSearchParams(what).toString()}`);
    await this.filesAreListed();
  }

  /** Waits until a window lists its files, and knows the extension. */
  private async filesAreListed(page = this.page): Promise<void> {
    for (const part of ['.explorer-folders-view .monaco-list-row', '.pane-header[aria-label^="Memory Findings"]']) {
      await page
        .locator(part)
        .first()
        .waitFor({ timeout: 3 * waitMs });
    }
  }

  /** Waits for the window that an action opens, and lets it be used in the same way as this one. */
  async windowOpenedBy(action: () => Promise<void>): Promise<Editor> {
    const opened = this.context.waitForEvent('page');
    await action();
    const page = await opened;
    await this.filesAreListed(page);
    return new Editor(page, this.workspace, this.folder, this.context, this.codeServerPid, this.url, this.fill);
  }

  /** Changes the settings of the user, which hold after the next visit. */
  async configureUser(changes: Record<string, unknown>): Promise<void> {
    await writeFile(path.join(this.folder, 'data/User/settings.json'), JSON.stringify({ ...settings, ...changes }));
  }

  /** Runs a command by its full title through the command palette. */
  async run(command: string): Promise<void> {
    await this.pick('F1', `>${command}`, command);
    await this.page.locator('.quick-input-widget:visible').waitFor({ state: 'hidden' });
  }

  /** Runs a command that asks for something, and returns where to type the answer. */
  async runAsking(command: string, placeholder: string): Promise<Locator> {
    await this.pick('F1', `>${command}`, command);
    const input = this.page.locator(`.quick-input-widget:visible input[placeholder="${placeholder}"]`);
    await input.waitFor();
    return input;
  }

  /** Opens a file of the workspace and waits until its editor is active. */
  async open(name: string): Promise<void> {
    await this.pick('Control+p', name, name);
    await this.page.locator('.quick-input-widget:visible').waitFor({ state: 'hidden' });
    await this.page.locator(`.editor-group-container.active .tab.active[data-resource-name="${name}"]`).waitFor();
  }

  private async pick(key: string, query: string, label: string): Promise<void> {
    const widget = this.page.locator('.quick-input-widget:visible');
    const input = widget.locator('.quick-input-box input');
    await until(`the entry "${label}"`, async () => {
      await this.page.keyboard.press(key);
      // The picker hides when a webview that is just loading takes the focus.
      return input.fill(query, { timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
    await widget.locator('.monaco-list-row').getByText(label, { exact: true }).first().waitFor();
    // Recently used entries and longer titles may come before the one meant.
    const focused = widget.locator('.monaco-list-row.focused').getByText(label, { exact: true });
    while ((await focused.count()) === 0) {
      await this.page.keyboard.press('ArrowDown');
    }
    await this.page.keyboard.press('Enter');
  }

  /** Drops unsaved changes, closes all editors and notifications, and restores the files. */
  async tidy(): Promise<void> {
    await this.page.keyboard.press('Escape');
    while ((await this.page.locator('.editor-group-container .tab').count()) > 0) {
      await this.run('View: Revert and Close Editor');
    }
    await this.run('Notifications: Clear All Notifications');
    if (await this.page.locator('.part.panel').isVisible()) {
      await this.page.keyboard.press('Control+j');
    }
    await this.fill(this.workspace);
  }

  /** Reads a file of the workspace. */
  read(name: string): Promise<string> {
    return readFile(path.join(this.workspace, name), 'utf8');
  }

  /** Sets the settings of the workspace while the editor runs. */
  async configure(workspaceSettings: Record<string, unknown>): Promise<void> {
    const folder = path.join(this.workspace, '.vscode');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'settings.json'), JSON.stringify(workspaceSettings));
    // The file is not watched, so it is saved once more in an editor.
    await this.run('Preferences: Open Workspace Settings (JSON)');
    await this.page.locator('.tab.active[data-resource-name="settings.json"]').waitFor();
    await this.page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
    await this.page.keyboard.press('Control+End');
    await this.page.keyboard.type(' ');
    await this.run('File: Save');
    await this.run('View: Close Editor');
  }

  /** The active text editor. */
  get active(): Locator {
    return this.page.locator('.editor-group-container.active .editor-instance .monaco-editor').first();
  }

  /** The visible text of an editor. */
  async text(editor = this.active): Promise<string> {
    // The editor draws spaces as no-break spaces.
    return (await editor.locator('.view-lines').innerText()).replaceAll('\u00a0', ' ');
  }

  /** The squiggles in an editor, of all severities. */
  squiggles(editor = this.active): Locator {
    return editor.locator('.squiggly-error, .squiggly-warning, .squiggly-info, .squiggly-hint');
  }

  /** Puts the cursor into the line with the given text. */
  async clickLine(text: string, editor = this.active): Promise<void> {
    await editor.locator('.view-line', { hasText: text }).first().click();
    await this.page.locator('.monaco-editor.focused').waitFor();
  }

  /** Where on the screen the last occurrence of part in the line with the given text is drawn. */
  async locate(line: string, part: string, editor = this.active): Promise<Box> {
    return editor
      .locator('.view-line', { hasText: line })
      .first()
      .evaluate((element, part) => {
        const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        let found: DOMRect | undefined;
        for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
          const start = node.textContent?.lastIndexOf(part) ?? -1;
          if (start >= 0) {
            range.setStart(node, start);
            range.setEnd(node, start + part.length);
            found = range.getBoundingClientRect();
          }
        }
        if (found === undefined) {
          throw new Error(`the line does not contain ${part} as one token`);
        }
        return { x: found.x, y: found.y, width: found.width, height: found.height };
      }, part);
  }

  /** Rests the mouse on a part of a line and returns the hover that appears. */
  async hover(line: string, part: string, editor = this.active): Promise<Locator> {
    const { x, y, width, height } = await this.locate(line, part, editor);
    await this.page.mouse.move(x + width / 2, y + height / 2);
    const hover = this.page.locator('.monaco-hover:visible').first();
    await hover.waitFor();
    return hover;
  }

  /** Waits until a part of a line has a squiggle. */
  async waitForSquiggle(line: string, part: string, editor = this.active): Promise<void> {
    await until(`a squiggle under ${part} in "${line}"`, async () => {
      const target = await this.locate(line, part, editor);
      const boxes = await Promise.all((await this.squiggles(editor).all()).map((squiggle) => squiggle.boundingBox()));
      return boxes.some((box) => box !== null && overlap(box, target));
    });
  }

  /** Opens the menu of quick fixes at the cursor and returns the entry with a title. */
  async quickFix(title: string | RegExp): Promise<Locator> {
    await this.page.keyboard.press('Control+.');
    const entry = this.page.locator('.action-widget .monaco-list-row', { hasText: title }).first();
    // What was asked for too early has no entries.
    await until(`the quick fix ${String(title)}`, async () => {
      const there = await entry.waitFor({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
      if (!there) {
        await this.page.keyboard.press('Escape');
        await this.page.keyboard.press('Control+.');
      }
      return there;
    });
    return entry;
  }

  /** Chooses an entry of the menu that is open. */
  async chooseFromMenu(entry: string): Promise<void> {
    const item = this.page.locator('.context-view .action-menu-item').getByText(entry, { exact: true });
    await item.waitFor();
    // A menu takes no clicks in its first moments.
    await until(`the menu to close`, async () => {
      await item.click({ timeout: 1000 }).catch(() => undefined);
      return (await item.count()) === 0;
    });
  }

  /** Chooses an entry of the Explorer's menu for files or folders of the workspace. */
  async chooseInExplorer(names: readonly string[], entry: string): Promise<void> {
    await this.run('View: Show Explorer');
    const row = (name: string) => this.page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`);
    for (const [index, name] of names.entries()) {
      if ((await row(name).count()) === 0) {
        await row('incident').click();
      }
      await row(name).click(index === 0 ? {} : { modifiers: ['Control'] });
    }
    await row(names[0] ?? '').click({ button: 'right' });
    await this.chooseFromMenu(entry);
  }

  /** Gives a view of the Explorer the room of the others. */
  async roomFor(view: string): Promise<void> {
    for (const header of await this.page.locator('.part.sidebar .pane-header').all()) {
      const wanted = ((await header.getAttribute('aria-label')) ?? '').startsWith(view);
      const open = (await header.getAttribute('aria-expanded')) === 'true';
      if (wanted !== open) {
        await header.click();
      }
    }
  }

  /** Reloads the window. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('load');
    await this.pick('F1', '>Developer: Reload Window', 'Developer: Reload Window');
    await loaded;
    await this.filesAreListed();
  }

  /** Puts text on the clipboard. */
  async copy(text: string): Promise<void> {
    await this.page.evaluate((text) => navigator.clipboard.writeText(text), text);
  }

  /** The text on the clipboard. */
  clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Runs a command in a terminal. */
  async terminal(command: string): Promise<void> {
    await this.run('Terminal: Focus Terminal'); // which makes one if there is none
    await this.page.locator('.terminal-wrapper.active .xterm-screen').first().waitFor();
    await until('a prompt', async () => (await this.terminalShows('$')) || (await this.terminalShows('#')));
    await this.page.keyboard.type(`${command}\n`);
  }

  /** Whether the terminal shows a text. */
  async terminalShows(text: string): Promise<boolean> {
    const shown = await this.page.locator('.terminal-wrapper.active .xterm-rows').first().innerText();
    // Long lines are wrapped.
    return shown.replaceAll('\u00a0', ' ').replaceAll('\n', '').includes(text);
  }

  /** The memory of the language server, in bytes. */
  async memoryOfServer(): Promise<number> {
    const pid = await until('a running server', async () => (await this.serverPids())[0]);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** The rendered Markdown preview. */
  get preview(): FrameLocator {
    return this.page.locator('iframe.webview.ready').last().contentFrame().frameLocator('#active-frame');
  }

  /** Waits until the extension's status bar item says something. */
  async waitForStatus(text: RegExp): Promise<void> {
    const item = this.page.locator('.statusbar-item[id="graphleak.graphleak.server"] a');
    await until(`the status ${text.source}`, async () => text.test((await item.getAttribute('aria-label')) ?? ''));
  }

  /** Waits until the cursor is in a line of the active editor. */
  async waitForPosition(line: number): Promise<void> {
    const item = this.page.locator('.statusbar-item[id="status.editor.selection"]');
    await until(`the cursor in line ${line}`, async () => (await item.innerText()).startsWith(`Ln ${line},`));
  }

  /** Waits for a notification with a text. */
  async notification(text: RegExp): Promise<Locator> {
    const toast = this.page.locator('.notification-toast', { hasText: text });
    await toast.waitFor();
    return toast;
  }

  /** How long the extension made the editor wait: to read its code, and to activate it. In ms, as the editor has measured it. */
  async activation(): Promise<{ load: number; call: number }> {
    await this.run('Developer: Startup Performance');
    await this.page.locator('.tab.active', { hasText: 'Startup Performance' }).waitFor();
    const report = await until('the report', async () => {
      await this.page.keyboard.press('Control+a');
      await this.page.keyboard.press('Control+c');
      const text = await this.clipboard();
      return text.includes('graphleak.graphleak') && text;
    });
    // Extension, Eager, Load Code, Call Activate, Finish Activate, Event, By
    const [, , , load, call] = /.*\| graphleak\.graphleak .*/.exec(report)?.[0].split('|').map(Number) ?? [];
    return { load: load ?? NaN, call: call ?? NaN };
  }

  /** Saves a picture of the window as dist/e2e/screenshots/<name>.png. */
  async screenshot(name: string): Promise<string> {
    const file = path.resolve('dist/e2e/screenshots', `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** Saves a picture that stays sharp when it is made smaller: two of its points for each of the screen's. */
  async fineScreenshot(name: string): Promise<string> {
    const file = path.resolve('dist/e2e/screenshots', `${name}.png`);
    const { width, height } = this.page.viewportSize() ?? { width: 1280, height: 800 };
    const devtools = await this.context.newCDPSession(this.page);
    const { data } = await devtools.send('Page.captureScreenshot', { clip: { x: 0, y: 0, width, height, scale: 2 } });
    await devtools.detach();
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(data, 'base64'));
    return file;
  }

  /** The process ids of the language servers that this VS Code runs. */
  async serverPids(): Promise<number[]> {
    const binary = path.join(this.folder, 'extensions') + path.sep;
    const pids: number[] = [];
    for (const entry of await readdir('/proc')) {
      if (/^\d+$/.test(entry)) {
        const program = await readlink(`/proc/${entry}/exe`).catch(() => '');
        if (program.startsWith(binary) && path.basename(program) === 'graphleak') {
          pids.push(Number(entry));
        }
      }
    }
    return pids;
  }
}

/** Waits until check returns something other than undefined, false or null. */
export async function until<T>(what: string, check: () => Promise<T | undefined | false | null>): Promise<T> {
  const end = Date.now() + waitMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false && value !== null) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`timeout while waiting for ${what}`);
    }
    await delay(50);
  }
}

function overlap(a: Box, b: Box): boolean {
  const middle = b.y + b.height / 2;
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y <= middle && middle <= a.y + a.height;
}

async function startCodeServer(tools: Tools, folder: string, trust: boolean): Promise<{ pid: number; url: string }> {
  const home = path.join(folder, 'home');
  await mkdir(home);
  const nowhere = 'http://127.0.0.1:9/';
  const env = {
    PATH: process.env['PATH'],
    SHELL: '/bin/bash',
    HOME: home,
    // Without a marketplace nothing outside is asked for extensions.
    EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: nowhere, itemUrl: nowhere, resourceUrlTemplate: nowhere }),
  };
  const profile = ['--user-data-dir', path.join(folder, 'data'), '--extensions-dir', path.join(folder, 'extensions')];
  const fixture = path.join(folder, 'fixture.vsix');
  await createVSIX({ cwd: 'extension/test/e2e/fixture', packagePath: fixture, dependencies: false });
  const install = [`dist/graphleak-linux-${process.arch}.vsix`, fixture].flatMap((vsix) => [
    '--install-extension',
    vsix,
  ]);
  await promisify(execFile)(tools.node, [tools.codeServer, ...profile, ...install], { env });

  const port = await freePort();
  const options = [
    '--bind-addr',
    `127.0.0.1:${port}`,
    '--auth',
    'none',
    '--disable-telemetry',
    '--disable-update-check',
  ];
  const quiet = ['--disable-getting-started-override', '--ignore-last-opened'];
  const trusted = trust ? ['--disable-workspace-trust'] : [];
  // A process group of its own, so that all its processes end together.
  const child = spawn(tools.node, [tools.codeServer, ...profile, ...options, ...quiet, ...trusted], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  let log = '';
  child.stdout.on('data', (data: Buffer) => (log += data.toString()));
  child.stderr.on('data', (data: Buffer) => (log += data.toString()));
  const url = `http://127.0.0.1:${port}`;
  await until('code-server to answer', async () => {
    if (child.exitCode !== null) {
      throw new Error(`code-server ended:\n${log}`);
    }
    return fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return { pid, url };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
