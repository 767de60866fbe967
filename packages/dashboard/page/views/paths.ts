import { html, nothing, type TemplateResult } from 'lit-html';
import type { DashboardView, MatrixCell, MatrixView, PeerRow, SessionRow } from '../../src/shapes.js';
import { formatDuration, plural } from '../format.js';
import { addresses, age, badge, empty, panel, table } from '../parts.js';
import { matches } from '../state.js';

export function drawPaths({ matrix, peers, sessions }: DashboardView): TemplateResult {
  return html`${drawMatrix(matrix)}${drawPeers(peers)}${sessions.length === 0 ? nothing : drawSessions(sessions)}`;
}

export function drawMatrix(matrix: MatrixView | null): TemplateResult {
  const title = 'Last connectivity test';
  if (matrix === null) {
    return panel(
      title,
      empty(
        'Not run yet',
        html`<code>podwire connectivity test</code> sends packets between all pods and nodes; its result
          appears here.`,
      ),
    );
  }
  const { at, ok, good, all, more } = matrix;
  const text = `${good} of ${all} probes passed`;
  const aside = html`${badge(ok ? 'good' : 'bad', text)}<span class="count">${age(at)} ago</span>`;
  const note =
    more === 0 ? nothing : html`<p class="more">${plural(more, 'more participant')} without a failure</p>`;
  return panel(title, html`${matrixTable(matrix)}${note}`, aside);
}

function matrixTable({ columns, rows }: MatrixView): TemplateResult {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Connectivity matrix">
      <table class="matrix ${columns.length > 7 ? 'dense' : ''}">
        <caption class="unseen">
          Who reaches whom; rows ask, columns answer.
        </caption>
        <thead>
          <tr>
            <th scope="col"><span class="soft">from \\ to</span></th>
            ${columns.map((name) => html`<th scope="col" title=${name}><span>${shorten(name)}</span></th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ from, cells }) =>
              html`<tr>
                <th scope="row" title=${from}>${shorten(from)}</th>
                ${cells.map(drawCell)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

const shorten = (name: string): string => name.replace(/^default\//, '');

function drawCell(cell: MatrixCell | null): TemplateResult {
  if (cell === null) return html`<td class="none" aria-label="not asked">·</td>`;
  const { good, all, time, problem } = cell;
  if (good === all)
    return html`<td class="good" title=${`${all} of ${all}`}>✓<small>${formatDuration(time)}</small></td>`;
  return html`<td class="bad" title=${problem} aria-label=${`${good} of ${all}: ${problem}`}>
    ✗<small>${good}/${all}</small>
  </td>`;
}

function drawPeers(peers: readonly PeerRow[]): TemplateResult {
  const rows = peers.filter((row) => matches(row.node, row.peer, ...row.addresses, ...row.problems));
  if (peers.length === 0)
    return panel('Peers', empty('No peers', 'This node is in no cluster, or alone in it.'));
  const content = table<PeerRow>({
    name: 'peers',
    caption: 'The way from each node to each other node',
    rows,
    id: ({ node, peer }) => `${node} ${peer}`,
    columns: [
      { title: 'From', cell: ({ node }) => node },
      { title: 'To', cell: ({ peer }) => peer },
      { title: 'State', cell: drawPeerState, kind: 'state' },
      { title: 'Addresses', cell: (row) => addresses(row.addresses), kind: 'code minor' },
      { title: 'Way', cell: ({ path }) => path, kind: 'minor' },
      { title: 'Blocks', cell: ({ blocks }) => `${blocks}`, kind: 'number' },
      {
        title: 'In the kernel',
        cell: ({ resources }) => plural(resources, 'resource'),
        kind: 'number minor',
      },
    ],
  });
  return panel('Peers', content, html`<span class="count">${plural(rows.length, 'path')}</span>`);
}

const drawPeerState = ({ level, problems }: PeerRow): TemplateResult =>
  html`${badge(level, level === 'good' ? 'as planned' : plural(problems.length, 'problem'))}
  ${problems.map((each) => html`<span class="reason" title=${each}>${each}</span>`)}`;

function drawSessions(sessions: readonly SessionRow[]): TemplateResult {
  const content = table<SessionRow>({
    name: 'sessions',
    caption: 'BGP sessions',
    rows: sessions,
    id: ({ node, router }) => `${node} ${router}`,
    columns: [
      { title: 'Node', cell: ({ node }) => node },
      { title: 'Router', cell: ({ router }) => router, kind: 'code' },
      { title: 'State', cell: ({ level, state }) => badge(level, state), kind: 'state' },
      { title: 'Since', cell: ({ since }) => since },
      { title: 'Last error', cell: ({ lastError }) => lastError || '–', kind: 'minor' },
    ],
  });
  return panel('BGP sessions', content);
}
