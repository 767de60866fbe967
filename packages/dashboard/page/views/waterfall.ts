/** A trace as bars over time. A row can be made to fill the width, so that 2 ms inside of 6 s can be read. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import type { WaterfallRow, WaterfallView } from '../../src/shapes.js';
import { chooseTicks, formatDuration, plural } from '../format.js';
import { empty } from '../parts.js';
import { change, state } from '../state.js';

interface Window {
  readonly start: number;
  readonly span: number;
}

export function drawWaterfall(waterfall: WaterfallView | null): TemplateResult {
  if (waterfall === null)
    return empty('No trace', 'The agent keeps the latest requests only; this pod started before them.');
  const { rows, total, more } = waterfall;
  const zoomed = state.zoom === undefined ? undefined : rows[state.zoom];
  const window =
    zoomed === undefined ? { start: 0, span: total } : { start: zoomed.start, span: zoomed.duration };
  const first = zoomed === undefined ? 0 : state.zoom!;
  const shown = zoomed === undefined ? rows : [zoomed, ...below(rows, first)];
  const ticks = chooseTicks(window.span, 4);
  return html`
    <div class="waterfallHead">
      <span
        ><strong>${formatDuration(window.span)}</strong>
        ${zoomed === undefined ? 'in all' : html`in ${zoomed.name}`}</span
      >
      ${
        zoomed === undefined
          ? html`<span class="soft">Enter or a click on a row zooms in</span>`
          : html`<button type="button" class="link" @click=${() => change({ zoom: undefined })}>
              the whole trace
            </button>`
      }
    </div>
    <div class="waterfall" role="table" aria-label="Trace" data-list="waterfall">
      <div class="spanRow axis" role="row">
        <span role="columnheader">Step</span
        ><span role="columnheader" aria-label="Time">${drawAxis(ticks, window)}</span
        ><span role="columnheader">Took</span>
      </div>
      ${shown.map((row, index) => drawRow(row, index + first, window, ticks, index === 0, zoomed?.depth ?? 0))}
    </div>
    ${more === 0 ? nothing : html`<p class="more">and ${plural(more, 'more step')}</p>`}
    ${rows.filter(({ failed }) => failed !== '').map(({ name, failed }) => html`<p class="failed"><strong>${name}</strong> ${failed}</p>`)}
  `;
}

/** The rows that are parts of this one. */
function below(rows: readonly WaterfallRow[], at: number): WaterfallRow[] {
  const { depth } = rows[at]!;
  const end = rows.findIndex((row, index) => index > at && row.depth <= depth);
  return rows.slice(at + 1, end < 0 ? undefined : end);
}

const drawAxis = (ticks: readonly number[], { span }: Window): TemplateResult => html`
  <svg class="ticks" aria-hidden="true">
    ${ticks.map((tick) => svg`<text x=${percent(tick / span)} y="11">${formatDuration(tick)}</text>`)}
  </svg>
`;

function drawRow(
  row: WaterfallRow,
  index: number,
  window: Window,
  ticks: readonly number[],
  isFirst: boolean,
  depth: number,
): TemplateResult {
  const { name, duration, failed } = row;
  const indent = Math.min(row.depth - depth, 10);
  const zoom = (): void => change({ zoom: index === state.zoom ? undefined : index });
  return html`
    <div class="spanRow ${failed === '' ? '' : 'bad'}" role="row" @click=${zoom}>
      <span role="rowheader" class="depth${indent}">
        <button type="button" class="rowButton" tabindex=${isFirst ? 0 : -1} title=${name}>${name}</button>
      </span>
      <span role="cell" aria-label=${`starts at ${formatDuration(row.start)}`}
        >${drawBar(row, window, ticks)}</span
      >
      <span role="cell" class="number">${formatDuration(duration)}</span>
    </div>
  `;
}

function drawBar(
  { start, duration, depth }: WaterfallRow,
  window: Window,
  ticks: readonly number[],
): TemplateResult {
  const at = (start - window.start) / window.span;
  const share = duration / window.span;
  const kind = ['whole', 'stage', 'part', 'leaf'][Math.min(depth, 3)]!;
  return html`<svg class="spanBar" aria-hidden="true">
    ${ticks.map((tick) => svg`<line x1=${percent(tick / window.span)} x2=${percent(tick / window.span)} y1="0" y2="100%" />`)}
    <rect
      class=${kind}
      x=${percent(Math.min(0.995, at))}
      width=${percent(Math.max(0.005, Math.min(share, 1 - at)))}
      y="3"
      height="12"
      rx="2"
    />
  </svg>`;
}

const percent = (share: number): string => `${(Math.max(0, share) * 100).toFixed(3)}%`;
