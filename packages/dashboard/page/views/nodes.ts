import { html, nothing, type TemplateResult } from 'lit-html';
import type { NodeRow } from '../../src/shapes.js';
import { formatAge, formatBytes, formatDuration, plural } from '../format.js';
import { open } from '../navigation.js';
import { addresses, age, badge, empty, panel, table } from '../parts.js';
import { matches, state } from '../state.js';

export function drawNodes(nodes: readonly NodeRow[]): TemplateResult {
  const rows = nodes.filter((node) => matches(node.name, node.state, ...node.addresses, ...node.reasons));
  const count = html`<span class="count">${plural(rows.length, 'node')}</span>`;
  if (rows.length === 0) return panel('Nodes', empty('No node matches', 'Esc clears the filter.'));
  return panel('Nodes', nodeTable(rows), count);
}

export function nodeTable(rows: readonly NodeRow[]): TemplateResult {
  const inCluster = rows.some(({ lease }) => lease !== null);
  return table<NodeRow>({
    name: 'nodes',
    caption: 'Nodes with their agent, lease and addresses. Enter opens one.',
    rows,
    id: ({ name }) => name,
    onOpen: ({ name }) => open({ kind: 'node', id: name }),
    isOpen: ({ name }) => state.opened?.kind === 'node' && state.opened.id === name,
    columns: [
      { title: 'Node', cell: ({ name }) => name },
      { title: 'Agent', cell: drawAgent, kind: 'state' },
      ...(inCluster ? [{ title: 'Lease', cell: drawLease, kind: 'state' }] : []),
      { title: 'Addresses', cell: (node) => addresses(node.addresses), kind: 'code minor' },
      { title: 'Pods', cell: drawEndpoints, kind: 'number' },
      { title: 'Blocks', cell: ({ blocks }) => `${blocks}`, kind: 'number last' },
      { title: 'Borrowed', cell: ({ borrowed }) => `${borrowed}`, kind: 'number least' },
      { title: 'ADD, median', cell: drawAdds, kind: 'number least' },
      { title: 'Reconcile', cell: drawReconcile, kind: 'least' },
      { title: 'Version', cell: drawVersion, kind: 'least' },
      { title: 'Up', cell: ({ startedAt }) => age(startedAt), kind: 'number minor' },
    ],
  });
}

const drawAgent = ({ level, state: text, reasons }: NodeRow): TemplateResult =>
  html`${badge(level, text)}${reasons.map((each) => html`<span class="reason" title=${each}>${each}</span>`)}`;

function drawLease({ lease }: NodeRow): TemplateResult | string {
  if (lease === null) return '–';
  const { level, state: text, since, confirmedAt, leading } = lease;
  const confirmed =
    confirmedAt === null ? nothing : html`, confirmed ${formatAge(state.now - confirmedAt)} ago`;
  return html`${badge(level, text)}<span class="reason last"
      >for ${age(since)}${confirmed}${leading ? ', leads' : ''}</span
    >`;
}

const drawEndpoints = ({ endpoints: { ready, busy } }: NodeRow): string =>
  busy === 0 ? `${ready}` : `${ready} + ${busy}`;

const drawAdds = ({ adds }: NodeRow): string => (adds === null ? '–' : formatDuration(adds.median));

function drawReconcile({ reconcile }: NodeRow): TemplateResult | string {
  if (reconcile === null) return '–';
  const { at, changes, failures } = reconcile;
  const failed = failures === 0 ? '' : `, ${plural(failures, 'failure')}`;
  const done = changes + failures === 0 ? 'nothing to do' : `${plural(changes, 'change')}${failed}`;
  return html`${done}<span class="reason">${age(at)} ago</span>`;
}

const drawVersion = ({ version, memory }: NodeRow): TemplateResult | string =>
  version === null
    ? '–'
    : html`${version}${memory === null ? nothing : html`<span class="reason">${formatBytes(memory)}</span>`}`;
