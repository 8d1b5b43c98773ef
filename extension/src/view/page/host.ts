import type { Model, Request } from '../messages';

/** What the page keeps while the window reloads, or while it is hidden. */
export interface State {
  readonly model: Model;
  /** The missing facts that the user has ticked off. */
  readonly done: readonly string[];
}

declare function acquireVsCodeApi(): {
  postMessage(message: Request): void;
  getState(): State | undefined;
  setState(state: State): void;
};

const vscode = acquireVsCodeApi();

/** Asks the extension to do something. */
export function request(message: Request): void {
  vscode.postMessage(message);
}

export function savedState(): State | undefined {
  return vscode.getState();
}

export function saveState(state: State): void {
  vscode.setState(state);
}

/** Tells people who do not see the page what a button has done. */
export function announce(text: string): void {
  const region = document.getElementById('announcement');
  if (region !== null) {
    region.textContent = text;
  }
}
