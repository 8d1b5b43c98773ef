// What the server answers to graphleak.diagnose, as docs/protocol.md and the
// diagnose JSON have it, and where the diagnosed text came from.

export type Confidence = 'high' | 'medium' | 'low';

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** In Unicode code points, counted from 1. */
  readonly column: number;
}

export interface Suspect {
  /** Relative to its workspace folder, with slashes. */
  readonly path: string;
  /** Of a notebook, counted from 1; lines count from its start. */
  readonly cell?: number;
  readonly range: { readonly start: Position; readonly end: Position };
  readonly code: string;
  readonly message: string;
  readonly why: string;
  readonly fixes?: readonly { readonly title: string; readonly safety: 'safe' | 'unsafe' }[];
}

/** A line of a log; without an input it is that of the only log. */
export interface LogLine {
  readonly line: number;
  readonly input?: string;
}

export interface Occurrence extends LogLine {
  readonly rank: number | null;
  readonly host: string;
}

export interface MemoryPart {
  readonly kind: 'live' | 'cached' | 'own' | 'other' | 'unknown' | 'free';
  readonly label: string;
  readonly bytes: number;
}

export interface Memory {
  readonly requested: number | null;
  readonly capacity: number | null;
  readonly limit: number | null;
  readonly parts: readonly MemoryPart[];
}

export interface Growth {
  readonly quantity: string;
  readonly slope: number;
  readonly unit: string;
  readonly r: number;
  readonly points: readonly (readonly [number, number])[];
  readonly predictedStep: number | null;
  readonly failedStep: number | null;
  readonly capacity: number | null;
  readonly line: readonly [readonly [number, number], readonly [number, number]];
  readonly shape: string;
  readonly meaning: string;
  readonly rank: number | null;
}

export interface Diagnosis {
  readonly version: number;
  readonly failure: string;
  readonly title: string;
  readonly confidence: Confidence;
  readonly cause: string;
  readonly initiating: (Occurrence & { readonly when: string }) | null;
  readonly collateral: readonly (Occurrence & { readonly event: string; readonly after?: number })[];
  readonly evidence: readonly (LogLine & { readonly text: string; readonly why: string })[];
  readonly arithmetic: readonly string[];
  readonly memory?: Memory;
  readonly growth: Growth | null;
  readonly fix: readonly { readonly title: string; readonly detail: string }[];
  readonly verify: { readonly command: string; readonly expect: string; readonly shell?: boolean };
  readonly missing: readonly string[];
  readonly suspects: readonly Suspect[];
  readonly alternatives: readonly { readonly failure: string; readonly confidence: Confidence; readonly why: string }[];
}

/** What the server's command graphleak.diagnose returns. */
export interface DiagnoseResult {
  readonly diagnosis: Diagnosis;
  readonly markdown: string;
  /** The same without what identifies people and machines. */
  readonly redacted: string;
  /** The addresses of the files that were read, by their names in the diagnosis. */
  readonly logs: Readonly<Record<string, string>>;
  /** The addresses of the files of the suspects, in their order. */
  readonly suspects: readonly string[];
}

/** What to diagnose: files, which the server reads, or a text. */
export type Source = FileSource | TextSource;

export interface FileSource {
  readonly kind: 'files';
  /** For people. */
  readonly name: string;
  readonly uris: readonly string[];
}

export interface TextSource {
  readonly kind: 'text';
  /** For people. */
  readonly name: string;
  readonly text: string;
  /** Where the text is from, if it is part of a document that can be opened. */
  readonly document?: { readonly uri: string; readonly segments: readonly Segment[] };
}

/** A part of a text that lies in one piece in the document it is from. */
export interface Segment {
  /** Its first line in the text, counted from 0. */
  readonly textLine: number;
  /** The same line in the document. */
  readonly documentLine: number;
}

/** The line of the document that a line of the text is, both counted from 0. */
export function documentLine(segments: readonly Segment[], line: number): number {
  const segment = segments.findLast(({ textLine }) => textLine <= line) ?? { textLine: 0, documentLine: 0 };
  return segment.documentLine + line - segment.textLine;
}
