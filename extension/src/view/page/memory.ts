import { scaleLinear } from 'd3-scale';
import type { Diagnosis, Memory } from '../../diagnosis';
import { h, prose, section, svg } from './dom';

/** The sums of an out-of-memory message, drawn and written out. */
export function memory({ memory, arithmetic }: Diagnosis): HTMLElement | undefined {
  return section(
    'memory',
    'Where the memory went',
    memory === undefined || memory.parts.length === 0 ? undefined : drawing(memory),
    arithmetic.length === 0
      ? undefined
      : h(
          'details',
          {},
          h('summary', {}, 'The arithmetic'),
          h('ul', { class: 'sums' }, ...arithmetic.map((line) => h('li', {}, prose(line)))),
        ),
  );
}

/** One bar of what the device holds, and on the same scale what was asked for. */
function drawing({ parts, capacity, requested, limit }: Memory): HTMLElement {
  const sum = parts.reduce((total, { bytes }) => total + bytes, 0);
  const most = Math.max(sum, capacity ?? 0, limit ?? 0, Math.min(requested ?? 0, 1.5 * sum));
  const x = scaleLinear([0, most], [0, 100]);
  let at = 0;
  const segments = parts.map(({ kind, label, bytes }) => {
    const start = at;
    at += bytes;
    return svg(
      'rect',
      { class: `part ${kind}`, x: `${x(start)}%`, y: 0, width: `${x(bytes)}%`, height: 26 },
      svg('title', {}, `${label}: ${size(bytes)}`),
    );
  });
  const request =
    requested === null
      ? undefined
      : svg(
          'rect',
          { class: 'part requested', x: 0, y: 32, width: `${Math.min(100, x(requested))}%`, height: 12 },
          svg('title', {}, `requested: ${size(requested)}`),
        );
  const marks = [
    { name: 'limit', value: limit },
    { name: 'capacity', value: capacity },
  ].flatMap(({ name, value }) =>
    value === null
      ? []
      : [svg('line', { class: `mark ${name}`, x1: `${x(value)}%`, x2: `${x(value)}%`, y1: 0, y2: 46 })],
  );
  const rows = [
    ...parts.map(({ kind, label, bytes }) => row(kind, label, bytes, capacity ?? sum)),
    ...(requested === null ? [] : [row('requested', 'requested', requested, capacity ?? sum)]),
    ...(limit === null ? [] : [row('limit', 'limit of this process', limit, capacity ?? sum)]),
    ...(capacity === null ? [] : [row('capacity', 'capacity of the device', capacity, capacity)]),
  ];
  return h(
    'figure',
    {},
    // The table below says the same to those who do not see the drawing.
    svg(
      'svg',
      { class: 'memory-bar', width: '100%', height: 46, 'aria-hidden': 'true' },
      ...segments,
      request,
      ...marks,
    ),
    h('table', { class: 'legend' }, h('caption', { class: 'unseen' }, 'Memory of the device'), h('tbody', {}, ...rows)),
  );
}

function row(kind: string, label: string, bytes: number, whole: number): HTMLElement {
  const heading = h('th', {}, h('span', { class: `swatch ${kind}`, hidden: true }), label);
  heading.setAttribute('scope', 'row');
  const share = whole > 0 && bytes !== whole ? `${((100 * bytes) / whole).toFixed(1)} %` : '';
  return h('tr', {}, heading, h('td', {}, size(bytes)), h('td', {}, share));
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** An amount of memory as PyTorch prints it. */
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 2)} ${units[power] ?? ''}`;
}
