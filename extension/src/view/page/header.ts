import type { Confidence, Diagnosis, Occurrence } from '../../diagnosis';
import type { Model } from '../messages';
import { h, link, prose } from './dom';
import { announce, request } from './host';

const levels: Readonly<Record<Confidence, { readonly dots: number; readonly means: string }>> = {
  high: { dots: 3, means: 'the text proves it' },
  medium: { dots: 2, means: 'it fits the text' },
  low: { dots: 1, means: 'a guess' },
};

/** What there is to see at a glance: what failed, why, how sure that is, and where it began. */
export function header({ source, result: { diagnosis } }: Model): HTMLElement {
  const { failure, title, cause, confidence } = diagnosis;
  return h(
    'header',
    {},
    h(
      'div',
      { class: 'overline' },
      link(failure, `Read about ${failure}`, () => {
        request({ kind: 'explain', topic: failure });
      }),
      meter(confidence),
    ),
    h('h1', {}, title),
    h('p', { class: 'cause' }, prose(cause)),
    roles(diagnosis),
    h(
      'div',
      { class: 'actions' },
      copyButton('Copy as Markdown', true, 'Without names of people and machines, tokens and addresses'),
      copyButton('Copy unredacted', false, 'As it is, with all that the log says'),
      h(
        'button',
        {
          type: 'button',
          class: 'secondary',
          title: `Read ${source.name} again`,
          onClick: () => {
            request({ kind: 'diagnoseAgain' });
          },
        },
        'Diagnose again',
      ),
    ),
  );
}

function meter(confidence: Confidence): HTMLElement {
  const { dots, means } = levels[confidence];
  return h(
    'span',
    { class: `confidence ${confidence}`, title: `Confidence ${confidence}: ${means}` },
    h('span', { class: 'dots', hidden: true }, '●'.repeat(dots) + '○'.repeat(3 - dots)),
    `confidence ${confidence}`,
  );
}

/** Who started it, against who only followed. */
function roles({ initiating, collateral }: Diagnosis): HTMLElement | undefined {
  if (initiating === null) {
    return undefined;
  }
  const who = [place(initiating), initiating.when].filter((part) => part !== '').join(', ');
  const ranks = new Set(collateral.filter(({ rank }) => rank !== initiating.rank).map(({ rank }) => rank));
  ranks.delete(null);
  return h(
    'dl',
    { class: 'roles' },
    h('dt', {}, 'Started it'),
    h('dd', {}, who === '' ? 'this process' : who, ' ', lineLink(initiating)),
    ...(collateral.length === 0
      ? []
      : [h('dt', {}, 'Followed'), h('dd', {}, ranks.size === 0 ? events(collateral.length) : rankList([...ranks]))]),
  );
}

function events(count: number): string {
  return count === 1 ? '1 event' : `${count} events`;
}

function rankList(ranks: readonly (number | null)[]): string {
  const sorted = ranks.filter((rank) => rank !== null).toSorted((a, b) => a - b);
  const shown = sorted.slice(0, 8).join(', ') + (sorted.length > 8 ? ` and ${sorted.length - 8} more` : '');
  return `${sorted.length === 1 ? 'rank' : 'ranks'} ${shown}`;
}

/** Which process something happened in, as far as the log tells. */
export function place({ rank, host }: Occurrence): string {
  return [rank === null ? '' : `rank ${rank}`, host === '' ? '' : `host ${host}`]
    .filter((part) => part !== '')
    .join(', ');
}

/** A link to a line of the log. */
export function lineLink({ line, input }: { readonly line: number; readonly input?: string }): HTMLElement {
  const text = input === undefined ? `line ${line}` : `${input}:${line}`;
  return link(text, `Show ${text} of the log`, () => {
    request({ kind: 'openLine', line, input });
  });
}

function copyButton(text: string, redacted: boolean, title: string): HTMLElement {
  const onClick = () => {
    request({ kind: 'copyMarkdown', redacted });
    announce(`Copied as Markdown, ${redacted ? 'redacted' : 'as it is'}`);
  };
  return h('button', { type: 'button', class: redacted ? '' : 'secondary', title, onClick }, text);
}
