import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { DashboardView, DriftRow, ErrorRow } from '../../src/shapes.js';
import { formatTime, plural } from '../format.js';
import { age, badge, empty, panel, prose, table } from '../parts.js';
import { matches, state } from '../state.js';

export function drawProblems({ errors, drift }: DashboardView): TemplateResult {
  const shown = errors.filter((error) => matches(error.code, error.message, error.node, error.subject));
  const count = html`<span class="count"
    >${shown.length === 0 ? 'none' : plural(shown.length, 'error')}</span
  >`;
  return html`${panel('Errors', drawErrors(shown), count)}${panel('Drift', drawDrift(drift), html`<span class="count">${plural(drift.length, 'repair')}</span>`)}`;
}

export function drawErrors(errors: readonly ErrorRow[]): TemplateResult {
  if (errors.length === 0)
    return empty('Nothing is wrong', 'Failed requests, problems of agents and warnings of pods appear here.');
  return html`<ul class="errors">
    ${repeat(errors, ({ id }) => id, drawError)}
  </ul>`;
}

function drawError({ at, node, subject, code, message, meaning, action, count }: ErrorRow): TemplateResult {
  const when =
    at === null ? badge('bad', 'now') : html`<time title=${formatTime(at, state.now)}>${age(at)} ago</time>`;
  const where = [subject, node].filter((each) => each !== '').join(' on ');
  return html`
    <li>
      <div class="errorHead">
        ${code === '' ? nothing : html`<code>${code}</code>`}<span class="soft">${where}</span>${
          count > 1 ? html`<span class="soft">${count} times</span>` : nothing
        }<span class="when">${when}</span>
      </div>
      <p>${message}</p>
      ${drawAdvice(meaning, action)}
    </li>
  `;
}

function drawAdvice(meaning: string, action: string): TemplateResult | typeof nothing {
  if (action !== '') return html`<p class="action"><strong>What to do:</strong> ${prose(action)}</p>`;
  return meaning === '' ? nothing : html`<p class="action">${prose(meaning)}</p>`;
}

function drawDrift(drift: readonly DriftRow[]): TemplateResult {
  const rows = drift.filter((row) => matches(row.node, row.owner, row.what, row.action));
  if (drift.length === 0) {
    return empty(
      'No drift seen',
      'What others change or delete in the kernel is repaired by the agent and listed here.',
    );
  }
  return html`${drawHistory(drift)}${table<DriftRow>({
    name: 'drift',
    caption: 'What was not in the kernel as planned',
    rows,
    id: (row) => `${row.at} ${row.node} ${row.owner} ${row.what} ${row.action}`,
    columns: [
      {
        title: 'What',
        cell: ({ what, detail }) =>
          html`<span class="code">${what}</span
            >${detail === '' ? nothing : html`<span class="reason" title=${detail}>${detail}</span>`}`,
        kind: 'wrap',
      },
      {
        title: 'Did',
        cell: ({ action }) => badge(action === 'failed' ? 'bad' : 'good', action),
        kind: 'state',
      },
      { title: 'Of', cell: ({ owner }) => (owner === '' || owner === 'node' ? 'the node' : owner) },
      { title: 'Node', cell: ({ node }) => node, kind: 'minor' },
      { title: 'When', cell: ({ at }) => `${age(at)} ago`, kind: 'number' },
    ],
  })}`;
}

const bins = 30;
const minute = 60_000;

/** Repairs in each of the last thirty minutes. */
function drawHistory(drift: readonly DriftRow[]): TemplateResult {
  const counts = Array.from({ length: bins }, () => 0);
  for (const { at } of drift) {
    const index = bins - 1 - Math.floor((state.now - at) / minute);
    if (index >= 0 && index < bins) counts[index]! += 1;
  }
  const most = Math.max(1, ...counts);
  return html`<svg
    class="history"
    role="img"
    aria-label="repairs in the last 30 minutes"
    viewBox="0 0 300 40"
    preserveAspectRatio="none"
  >
    ${counts.map((count, index) => {
      const height = count === 0 ? 1 : Math.max(4, (count / most) * 38);
      return svg`<rect class=${count === 0 ? 'ground' : 'cooling'} x=${index * 10 + 1} width="8" y=${40 - height} height=${height} />`;
    })}
  </svg>`;
}
