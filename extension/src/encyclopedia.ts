import * as vscode from 'vscode';
import { linkedPage, pageScheme, pageUri, topicOf } from './page';
import type { Server } from './server';

const everyPage = 'list';
const searchDelayMs = 150;

/** What the server returns of graphleak.explain and graphleak.search, as far as it is read here. */
interface Explanation {
  readonly title: string;
  readonly markdown: string;
  readonly topics?: readonly Topic[];
}

interface Topic {
  readonly id: string;
  readonly kind: 'rule' | 'failure';
  readonly title: string;
}

interface Entry extends vscode.QuickPickItem {
  readonly topic: string;
}

/** The pages about rules and failures, shown as Markdown. They come from the server, so they need no network. */
export class Encyclopedia implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #server: Server;
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(pageScheme, this);

  constructor(server: Server) {
    this.#server = server;
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** Shows the page about a topic, or lets the user look for one. */
  async explain(topic?: string): Promise<void> {
    const chosen = topic ?? (await this.#search());
    if (chosen !== undefined) {
      await vscode.commands.executeCommand('markdown.showPreview', pageUri(chosen));
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const topic = topicOf(uri);
    const { markdown } = await this.#server.execute<Explanation>('graphleak.explain', [topic], token);
    return `\`${topic}\`\n\n${linkedPage(markdown)}\n`;
  }

  /** Lets the user choose a page, by its name, by words, or by pasting an error message. */
  async #search(): Promise<string | undefined> {
    const { token, cancel } = cancellation();
    const { topics = [] } = await this.#server.execute<Explanation>('graphleak.explain', [everyPage], token);
    const pick = vscode.window.createQuickPick<Entry>();
    pick.title = 'Rules and failures';
    pick.placeholder = 'Name, words, or an error message';
    // What the server finds is shown, whether or not the words stand in the titles.
    pick.items = topics.map(entry);
    let timer: NodeJS.Timeout | undefined;
    pick.onDidChangeValue((value) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        void this.#find(value, topics, token).then((found) => {
          if (pick.value === value) {
            pick.items = found;
          }
        });
      }, searchDelayMs);
    });
    const chosen = new Promise<string | undefined>((resolve) => {
      pick.onDidAccept(() => {
        resolve(pick.activeItems[0]?.topic);
        pick.hide();
      });
      pick.onDidHide(() => {
        resolve(undefined);
      });
    });
    pick.show();
    try {
      return await chosen;
    } finally {
      clearTimeout(timer);
      cancel();
      pick.dispose();
    }
  }

  async #find(text: string, all: readonly Topic[], token: vscode.CancellationToken): Promise<Entry[]> {
    if (text.trim() === '') {
      return all.map(entry);
    }
    const { topics = [] } = await this.#server.execute<Explanation>('graphleak.search', [text], token);
    return topics.map((topic) => ({ ...entry(topic), alwaysShow: true }));
  }
}

function entry({ id, kind, title }: Topic): Entry {
  const icon = kind === 'rule' ? 'law' : 'flame';
  return { label: `$(${icon}) ${id}`, description: title, topic: id };
}

function cancellation(): { token: vscode.CancellationToken; cancel: () => void } {
  const source = new vscode.CancellationTokenSource();
  return {
    token: source.token,
    cancel: () => {
      source.cancel();
      source.dispose();
    },
  };
}
