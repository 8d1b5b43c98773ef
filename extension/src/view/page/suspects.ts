import type { Diagnosis, Suspect } from '../../diagnosis';
import { h, link, prose, section } from './dom';
import { request } from './host';

/** The findings in the user's code that may be the cause, each with its fix. */
export function suspects({ suspects }: Diagnosis): HTMLElement | undefined {
  const list = suspects.length === 0 ? undefined : h('ol', { class: 'cards' }, ...suspects.map(card));
  return section('suspects', 'Suspects in your code', list);
}

function card(suspect: Suspect, index: number): HTMLElement {
  const { code, message, why, fixes = [] } = suspect;
  const [fix] = fixes;
  const where = placeOf(suspect);
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'card-head' },
      link(where, `Show ${where}`, () => {
        request({ kind: 'openSuspect', index });
      }),
      h('span', { class: 'badge' }, ruleLink(code)),
    ),
    h('p', {}, prose(message)),
    why === '' ? undefined : h('p', { class: 'detail' }, prose(why)),
    fix === undefined
      ? undefined
      : h(
          'button',
          {
            type: 'button',
            title:
              fix.safety === 'safe'
                ? 'Apply it in the editor; the behaviour of the program stays the same'
                : 'Show it in the editor; it may change the behaviour of the program',
            onClick: () => {
              request({ kind: 'fix', index });
            },
          },
          fix.safety === 'safe' ? 'Fix: ' : 'Show fix: ',
          prose(fix.title),
        ),
  );
}

function ruleLink(code: string): HTMLElement {
  return link(code, `Read about ${code}`, () => {
    request({ kind: 'explain', topic: code });
  });
}

function placeOf({ path, cell, range: { start } }: Suspect): string {
  return cell === undefined ? `${path}:${start.line}` : `${path}, cell ${cell}, line ${start.line}`;
}
