import type { DiagnoseResult, Source } from '../diagnosis';

/** What the page shows, and what is kept of it while the window reloads. */
export interface Model {
  readonly source: Source;
  readonly result: DiagnoseResult;
  /** The names of the files of the suspects, in their order. */
  readonly places: readonly string[];
}

/** From the extension to the page. */
export interface Show {
  readonly kind: 'show';
  readonly model: Model;
}

/** From the page to the extension. */
export type Request =
  /** The page is there and can show something. */
  | { readonly kind: 'ready' }
  /** Show a line of the log. */
  | { readonly kind: 'openLine'; readonly line: number; readonly input?: string | undefined }
  /** Show the code of a suspect. */
  | { readonly kind: 'openSuspect'; readonly index: number }
  /** Apply the quick fix of a suspect. */
  | { readonly kind: 'fix'; readonly index: number }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'copyMarkdown'; readonly redacted: boolean }
  | { readonly kind: 'runInTerminal'; readonly command: string }
  /** Show the page about a rule or a failure. */
  | { readonly kind: 'explain'; readonly topic: string }
  | { readonly kind: 'diagnoseAgain' };
