import { scaleLinear } from 'd3-scale';
import type { Diagnosis, Occurrence } from '../../diagnosis';
import { h, section } from './dom';
import { lineLink, place } from './header';

interface Entry {
  readonly at: Occurrence;
  readonly text: string;
  readonly after: number | undefined;
  readonly initiating: boolean;
}

/** What the ranks did, from the one that failed first to those that followed. */
export function timeline(diagnosis: Diagnosis): HTMLElement | undefined {
  const { initiating, collateral } = diagnosis;
  if (initiating === null || collateral.length === 0) {
    return undefined;
  }
  const entries: Entry[] = [
    { at: initiating, text: diagnosis.title, after: 0, initiating: true },
    ...collateral.map(({ event, after, ...at }) => ({ at, text: event, after, initiating: false })),
  ];
  const timed = entries.every(({ after }) => after !== undefined) && entries.some(({ after }) => after !== 0);
  const position = timed ? byTime(entries) : byOrder(entries);
  const rows = entries
    .map((entry, index) => ({ entry, at: position(entry, index) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ entry, at }) => row(entry, at, timed));
  return section(
    'timeline',
    'The ranks, in order',
    h('ol', { class: 'timeline' }, ...rows),
    timed
      ? undefined
      : h('p', { class: 'detail' }, 'The log has no times that can be compared: the order is that of its lines.'),
  );
}

type Position = (entry: Entry, index: number) => number;

function byTime(entries: readonly Entry[]): Position {
  const times = entries.map(({ after = 0 }) => after);
  const x = scaleLinear([Math.min(...times), Math.max(...times)], [0, 100]);
  return ({ after = 0 }) => x(after);
}

/** The first failure at the start, the others behind it as the server has them. */
function byOrder(entries: readonly Entry[]): Position {
  return (_, index) => (100 * index) / Math.max(1, entries.length - 1);
}

function row({ at, text, after = 0, initiating }: Entry, position: number, timed: boolean): HTMLElement {
  const dot = h('span', { class: 'dot' });
  // Style attributes are not allowed on this page, but this is none.
  dot.style.left = `${position}%`;
  const role = initiating ? 'started it' : 'followed';
  return h(
    'li',
    { class: initiating ? 'initiating' : 'collateral' },
    h('span', { class: 'who' }, place(at) || (at.input ?? 'a process'), h('span', { class: 'unseen' }, `, ${role}`)),
    h('span', { class: 'track', hidden: true }, dot),
    h('span', { class: 'when' }, timed ? `${after < 0 ? '−' : '+'}${Math.abs(after).toFixed(1)} s` : ''),
    h('span', { class: 'what' }, text, ' ', lineLink(at)),
  );
}
