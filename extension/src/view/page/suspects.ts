import type { Suspect } from '../../diagnosis';
import type { Model } from '../messages';
import { h, link, prose, section } from './dom';
import { request } from './host';

/** The findings in the user's code that may be the cause, each with its fix. */
export function suspects({ result, places }: Model): HTMLElement | undefined {
  const { suspects } = result.diagnosis;
  const cards = suspects.map((suspect, index) => card(suspect, index, places[index] ?? suspect.path));
  const list = suspects.length === 0 ? undefined : h('ol', { class: 'cards' }, ...cards);
  return section('suspects', 'Suspects in your code', list);
}

function card(suspect: Suspect, index: number, file: string): HTMLElement {
  const { code, message, why, fixes = [] } = suspect;
  const [fix] = fixes;
  const where = placeOf(suspect, file);
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

function placeOf({ cell, range: { start } }: Suspect, file: string): string {
  return cell === undefined ? `${file}:${start.line}` : `${file}, cell ${cell}, line ${start.line}`;
}
