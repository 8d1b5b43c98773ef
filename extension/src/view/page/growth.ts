import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { Diagnosis, Growth } from '../../diagnosis';
import { h, prose, section, svg } from './dom';

const width = 640;
const height = 260;
const margin = { top: 14, right: 18, bottom: 40, left: 74 };

type Point = readonly [number, number];

/** The memory that the log prints step by step, with the line through it and where that leads. */
export function growth({ growth }: Diagnosis): HTMLElement | undefined {
  return section('growth', 'How the memory grew', growth === null ? undefined : figure(growth));
}

function figure(growth: Growth): HTMLElement {
  const caption = `${growth.quantity}${growth.rank === null ? '' : ` of rank ${growth.rank}`}: ${signed(growth.slope)} ${growth.unit}, r = ${growth.r.toFixed(2)}`;
  return h(
    'figure',
    {},
    h('figcaption', {}, caption),
    growth.points.length > 1 ? plot(growth, caption) : undefined,
    growth.meaning === '' ? undefined : h('p', {}, prose(growth.meaning)),
    h(
      'details',
      {},
      h('summary', {}, 'The numbers'),
      h(
        'table',
        { class: 'numbers' },
        h('thead', {}, h('tr', {}, columnHead(unitOf(growth)), columnHead('MiB'))),
        h(
          'tbody',
          {},
          ...sample(growth.points, 40).map(([x, y]) => h('tr', {}, h('td', {}, number(x)), h('td', {}, number(y)))),
        ),
      ),
    ),
  );
}

function plot(growth: Growth, caption: string): SVGElement {
  const { points, capacity, predictedStep, failedStep } = growth;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const events = [failedStep, predictedStep].filter((step) => step !== null);
  // What lies very far ahead would squeeze the series to nothing.
  const near = events.filter((step) => step <= last + 2 * Math.max(1, last - first));
  const predicted = predictedStep !== null && near.includes(predictedStep) ? predictedStep : null;
  const right = Math.max(last, ...near);
  const top = Math.max(...ys, predicted !== null && capacity !== null ? capacity : 0);
  const x = scaleLinear([first, right === first ? first + 1 : right], [margin.left, width - margin.right]);
  const per = top >= 4096 ? 1024 : 1;
  const y = scaleLinear([0, (top * 1.05) / per], [height - margin.bottom, margin.top]).nice();
  const path = line<Point>(
    ([step]) => x(step),
    ([, mib]) => y(mib / per),
  );
  const [from, to] = growth.line;
  const end: Point = predicted !== null && capacity !== null ? [predicted, capacity] : to;
  const label = [
    caption,
    predictedStep === null ? '' : `full at ${unitOf(growth)} ${predictedStep}`,
    failedStep === null ? '' : `failed at ${unitOf(growth)} ${failedStep}`,
  ];
  return svg(
    'svg',
    {
      class: 'plot',
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': label.filter((part) => part !== '').join('; '),
    },
    ...y
      .ticks(5)
      .flatMap((tick) => [
        svg('line', { class: 'grid', x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick) }),
        svg(
          'text',
          { class: 'tick', x: margin.left - 6, y: y(tick) + 4, 'text-anchor': 'end' },
          `${number(tick)} ${per === 1 ? 'MiB' : 'GiB'}`,
        ),
      ]),
    ...x
      .ticks(6)
      .filter(Number.isInteger)
      .map((tick) =>
        svg(
          'text',
          { class: 'tick', x: x(tick), y: height - margin.bottom + 16, 'text-anchor': 'middle' },
          number(tick),
        ),
      ),
    svg(
      'text',
      { class: 'tick', x: (margin.left + width - margin.right) / 2, y: height - 4, 'text-anchor': 'middle' },
      unitOf(growth),
    ),
    capacity !== null && capacity <= top ? horizontal(y(capacity / per), 'full') : undefined,
    svg('path', { class: 'series', d: path(points) ?? '' }),
    ...points.map(([step, value]) =>
      svg('circle', { class: 'point', cx: x(step), cy: y(value / per), r: points.length > 60 ? 1.2 : 2.5 }),
    ),
    svg('path', { class: 'fit', d: path([from, end]) ?? '' }),
    ...(predicted === null
      ? []
      : [vertical(x(predicted), 'predicted', `full at ${predicted}`, height - margin.bottom - 28)]),
    ...(failedStep === null || !near.includes(failedStep)
      ? []
      : [vertical(x(failedStep), 'failed', `failed at ${failedStep}`, height - margin.bottom - 10)]),
  );
}

function horizontal(y: number, label: string): SVGElement {
  return svg(
    'g',
    { class: 'capacity' },
    svg('line', { x1: margin.left, x2: width - margin.right, y1: y, y2: y }),
    svg('text', { class: 'tick', x: margin.left + 4, y: y - 4 }, label),
  );
}

function vertical(x: number, kind: string, label: string, labelY: number): SVGElement {
  const before = x > width / 2;
  return svg(
    'g',
    { class: kind },
    svg('line', { x1: x, x2: x, y1: margin.top, y2: height - margin.bottom }),
    svg(
      'text',
      { class: 'tick', x: before ? x - 5 : x + 5, y: labelY, 'text-anchor': before ? 'end' : 'start' },
      label,
    ),
  );
}

function columnHead(text: string): HTMLElement {
  const cell = h('th', {}, text);
  cell.setAttribute('scope', 'col');
  return cell;
}

/** What the horizontal axis counts: the unit of the slope is MiB per this. */
function unitOf({ unit }: Growth): string {
  return unit.split('/')[1] ?? 'step';
}

function sample<T>(list: readonly T[], most: number): readonly T[] {
  const every = Math.ceil(list.length / most);
  return list.filter((_, index) => index % every === 0 || index === list.length - 1);
}

function number(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(2)}`;
}
