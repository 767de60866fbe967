/** Small parts that several views draw. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Level, TrendPoint } from '../src/shapes.js';
import { formatAge, plural } from './format.js';
import { change, state } from './state.js';

export type Drawn = TemplateResult | TemplateResult[] | typeof nothing | string;

/** A state as a word with a colour and a shape: colour alone says nothing to many. */
export const badge = (level: Level, text: string): TemplateResult =>
  html`<span class="badge ${level}"><span class="mark" aria-hidden="true"></span>${text}</span>`;

export const age = (at: number | null): string => (at === null ? '–' : formatAge(state.now - at));

export const panel = (
  title: string,
  content: unknown,
  aside: unknown = nothing,
  extra = '',
): TemplateResult => html`
  <section class="panel ${extra}" aria-label=${title}>
    <header>
      <h2>${title}</h2>
      ${aside}
    </header>
    ${content}
  </section>
`;

export const empty = (title: string, text: unknown): TemplateResult =>
  html`<div class="empty">
    <strong>${title}</strong>
    <p>${text}</p>
  </div>`;

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => unknown;
  /** `number`, `minor` (dropped where there is no room), `wide` … as the style sheet has them. */
  readonly kind?: string;
}

export interface TableOptions<Row> {
  /** Names the list: for the arrow keys, and for screen readers. */
  readonly name: string;
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string;
  /** The text of the button in the first column; without `onOpen` it is plain. */
  readonly onOpen?: (row: Row) => void;
  readonly isOpen?: (row: Row) => boolean;
}

const mostRows = 200;

/** A table whose rows can be walked with the arrow keys; Tab goes to one row only. */
export function table<Row>(options: TableOptions<Row>): TemplateResult {
  const { name, caption, rows, columns } = options;
  const shown = state.whole.has(name) ? rows : rows.slice(0, mostRows);
  const known = state.rows.get(name);
  const current = shown.some((row) => options.id(row) === known) ? known : shown[0] && options.id(shown[0]);
  return html`
    <div class="scroll">
      <table class="list" data-list=${name}>
        <caption class="unseen">
          ${caption}
        </caption>
        <thead>
          <tr>
            ${columns.map(({ title, kind = '' }) => html`<th scope="col" class=${kind}>${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${repeat(shown, options.id, (row) => drawRow(row, options, options.id(row) === current))}
        </tbody>
      </table>
    </div>
    ${rows.length > shown.length ? showAll(name, rows.length) : nothing}
  `;
}

function drawRow<Row>(
  row: Row,
  { name, columns, id, onOpen, isOpen }: TableOptions<Row>,
  isCurrent: boolean,
): TemplateResult {
  const [first, ...others] = columns;
  const open = (): void => onOpen?.(row);
  const head = first?.cell(row);
  const content =
    onOpen === undefined
      ? head
      : html`<button
          type="button"
          class="rowButton"
          tabindex=${isCurrent ? 0 : -1}
          aria-expanded=${isOpen?.(row) === true ? 'true' : 'false'}
          @focus=${() => state.rows.set(name, id(row))}
        >
          ${head}
        </button>`;
  return html`
    <tr
      class=${`${onOpen === undefined ? '' : 'opens'} ${isOpen?.(row) === true ? 'open' : ''}`}
      @click=${open}
    >
      <th scope="row" class=${first?.kind ?? ''}>${content}</th>
      ${others.map(({ cell, kind = '', title }) => html`<td class=${kind} data-title=${title}>${cell(row)}</td>`)}
    </tr>
  `;
}

function showAll(name: string, count: number): TemplateResult {
  const show = (): void => {
    state.whole.add(name);
    change();
  };
  return html`<p class="more">
    <button type="button" @click=${show}>Show all ${plural(count, 'row')}</button>
  </p>`;
}

export interface BarPart {
  /** `used`, `cooling`, `lent`, `held` */
  readonly kind: string;
  /** 0 to 1 */
  readonly share: number;
}

/** Parts of a whole, side by side. A part that is there is never invisible. */
export function bar(parts: readonly BarPart[], label: string): TemplateResult {
  let at = 0;
  return html`<svg
    class="bar"
    role="img"
    aria-label=${label}
    preserveAspectRatio="none"
    viewBox="0 0 1000 10"
  >
    <rect class="ground" width="1000" height="10" />
    ${parts.map(({ kind, share }) => {
      const width = share > 0 ? Math.max(4, share * 1_000) : 0;
      const part = svg`<rect class=${kind} x=${at} width=${Math.min(width, 1_000 - at)} height="10" />`;
      at += width;
      return part;
    })}
  </svg>`;
}

/** How a pool filled in the last minutes. */
export function sparkline(points: readonly TrendPoint[], label: string): TemplateResult | typeof nothing {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || first === last) return nothing;
  const values = points.map(({ used }) => used);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = ({ at }: TrendPoint): number => ((at - first.at) / (last.at - first.at)) * 100;
  const y = ({ used }: TrendPoint): number => (high === low ? 12 : 22 - ((used - low) / (high - low)) * 20);
  const line = points.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(' ');
  return html`<svg
    class="spark"
    role="img"
    aria-label=${label}
    viewBox="0 0 100 24"
    preserveAspectRatio="none"
  >
    <polyline points=${line} />
  </svg>`;
}

/** Addresses, one a line. */
export const addresses = (all: readonly string[]): Drawn =>
  all.length === 0 ? '–' : all.map((each) => html`<span class="address">${each}</span>`);

/** Text of the catalogue, in which commands stand between backticks. */
export const prose = (text: string): Drawn =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
