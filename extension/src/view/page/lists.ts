import type { Diagnosis } from '../../diagnosis';
import { h, link, prose, section } from './dom';
import { lineLink } from './header';
import { announce, request } from './host';

/** The lines of the log that the diagnosis rests on. */
export function evidence({ evidence }: Diagnosis): HTMLElement | undefined {
  const list = evidence.map((item) =>
    h(
      'li',
      {},
      h('div', { class: 'evidence-head' }, lineLink(item), h('span', { class: 'detail' }, prose(item.why))),
      h('pre', {}, item.text),
    ),
  );
  return section('evidence', 'Evidence', list.length === 0 ? undefined : h('ul', { class: 'evidence' }, ...list));
}

/** What to do, best first. */
export function fixes({ fix }: Diagnosis): HTMLElement | undefined {
  const list = fix.map(({ title, detail }) =>
    h('li', {}, h('strong', {}, prose(title)), ' ', copyLink('Copy', `${title}\n${detail}`), h('p', {}, prose(detail))),
  );
  return section('fixes', 'What to do', list.length === 0 ? undefined : h('ol', { class: 'fixes' }, ...list));
}

/** How to see that it worked. */
export function verify({ verify: { command, expect, shell = false } }: Diagnosis): HTMLElement | undefined {
  if (command === '') {
    return undefined;
  }
  return section(
    'verify',
    'How to verify',
    h('pre', { class: 'command' }, command),
    h(
      'div',
      { class: 'actions' },
      button('Copy', 'Copy the command', () => {
        copy(command);
      }),
      shell
        ? button('Run in terminal…', 'Asks before anything runs', () => {
            request({ kind: 'runInTerminal', command });
          })
        : undefined,
    ),
    h('p', {}, prose(expect)),
  );
}

/** Facts that would make the diagnosis surer, to tick off. */
export function missing(
  { missing }: Diagnosis,
  done: readonly string[],
  save: (done: readonly string[]) => void,
): HTMLElement | undefined {
  const ticked = new Set(done);
  const list = missing.map((fact) => {
    const box = h('input', { type: 'checkbox' });
    box.checked = ticked.has(fact);
    box.addEventListener('change', () => {
      if (box.checked) {
        ticked.add(fact);
      } else {
        ticked.delete(fact);
      }
      save([...ticked]);
    });
    return h('li', {}, h('label', {}, box, h('span', {}, prose(fact))));
  });
  return section(
    'missing',
    'What is missing to be sure',
    list.length === 0 ? undefined : h('ul', { class: 'checklist' }, ...list),
  );
}

/** Other explanations, and why they are not the answer. */
export function alternatives({ alternatives }: Diagnosis): HTMLElement | undefined {
  const list = alternatives.map(({ failure, confidence, why }) =>
    h(
      'li',
      {},
      link(failure, `Read about ${failure}`, () => {
        request({ kind: 'explain', topic: failure });
      }),
      ` (${confidence}) `,
      prose(why),
    ),
  );
  return section(
    'alternatives',
    'Other explanations, and why not',
    list.length === 0 ? undefined : h('ul', {}, ...list),
  );
}

function button(text: string, title: string, onClick: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'secondary', title, onClick }, text);
}

function copyLink(text: string, copied: string): HTMLElement {
  return link(text, 'Copy this', () => {
    copy(copied);
  });
}

function copy(text: string): void {
  request({ kind: 'copy', text });
  announce('Copied');
}
