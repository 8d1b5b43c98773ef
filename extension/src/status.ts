import * as vscode from 'vscode';
import type { ServerState } from './server';

/** Shows what the server is doing in the status bar. A click shows the output. */
export class Status implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem('server', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'Graphleak';
    this.#item.command = 'graphleak.showOutput';
    this.#item.show();
  }

  update(state: ServerState): void {
    const { icon, text, problem } = describe(state);
    this.#item.text = `$(${icon}) Graphleak`;
    this.#item.tooltip = text;
    this.#item.accessibilityInformation = { label: text, role: 'button' };
    this.#item.backgroundColor = problem ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
  }

  dispose(): void {
    this.#item.dispose();
  }
}

function describe(state: ServerState): { icon: string; text: string; problem: boolean } {
  switch (state.kind) {
    case 'stopped':
      return { icon: 'circle-slash', text: 'Graphleak is stopped', problem: false };
    case 'starting':
      return { icon: 'loading~spin', text: 'Graphleak is starting', problem: false };
    case 'ready':
      return { icon: 'check', text: `Graphleak is ready (${state.name})`, problem: false };
    case 'failed':
      return { icon: 'error', text: `Graphleak does not run. ${state.reason}`, problem: true };
  }
}
