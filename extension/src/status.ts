import * as vscode from 'vscode';
import type { ServerState } from './server';

/** Shows in the status bar what the server is doing, and how much was found. A click shows the findings or the output. */
export class Status implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  #state: ServerState = { kind: 'stopped' };
  #count = 0;

  constructor() {
    this.#item = vscode.window.createStatusBarItem('server', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'Graphleak';
    this.#item.show();
  }

  update(state: ServerState): void {
    this.#state = state;
    this.#show();
  }

  /** Says how many findings there are. */
  count(findings: number): void {
    if (findings !== this.#count) {
      this.#count = findings;
      this.#show();
    }
  }

  #show(): void {
    const { icon, text, problem } = describe(this.#state);
    const ready = this.#state.kind === 'ready';
    const label = ready ? `${text}: ${this.#count === 1 ? '1 finding' : `${this.#count} findings`}` : text;
    this.#item.text = ready && this.#count > 0 ? `$(${icon}) Graphleak: ${this.#count}` : `$(${icon}) Graphleak`;
    this.#item.tooltip = label;
    this.#item.accessibilityInformation = { label, role: 'button' };
    this.#item.command = ready ? 'graphleak.findings.focus' : 'graphleak.showOutput';
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
