import { html, nothing, type TemplateResult } from 'lit-html';
import type { PodRow } from '../../src/shapes.js';
import { open } from '../navigation.js';
import { addresses, age, badge, empty, panel, table } from '../parts.js';
import { plural } from '../format.js';
import { matches, state } from '../state.js';

export function drawPods(pods: readonly PodRow[]): TemplateResult {
  const rows = pods.filter((pod) =>
    matches(pod.namespace, pod.name, pod.node, pod.state, pod.reason, ...pod.addresses),
  );
  if (pods.length === 0)
    return panel('Pods', empty('No pods yet', html`<code>podwire up examples/web.yaml</code> runs one.`));
  if (rows.length === 0) return panel('Pods', empty('No pod matches', 'Esc clears the filter.'));
  return panel('Pods', podTable(rows), html`<span class="count">${plural(rows.length, 'pod')}</span>`);
}

const isOpen = ({ id }: PodRow): boolean => state.opened?.id === id;

function podTable(rows: readonly PodRow[]): TemplateResult {
  const hasContainers = rows.some(({ ready }) => ready !== '');
  return table<PodRow>({
    name: 'pods',
    caption: 'Pods with their state, addresses and path. Enter opens one.',
    rows,
    id: ({ id }) => id,
    onOpen: ({ id }) => open({ kind: 'pod', id }),
    isOpen,
    columns: [
      { title: 'Pod', cell: ({ namespace, name }) => html`<span class="soft">${namespace}/</span>${name}` },
      { title: 'State', cell: drawState, kind: 'state' },
      ...(hasContainers
        ? [
            { title: 'Ready', cell: ({ ready }: PodRow) => ready || '–', kind: 'number' },
            { title: 'Restarts', cell: ({ restarts }: PodRow) => `${restarts}`, kind: 'number minor' },
          ]
        : []),
      { title: 'Addresses', cell: (pod) => addresses(pod.addresses), kind: 'code' },
      { title: 'Node', cell: ({ node }) => node, kind: 'minor' },
      { title: 'Path', cell: drawPath, kind: 'code least' },
      { title: 'Age', cell: ({ since }) => age(since), kind: 'number last' },
    ],
  });
}

const drawState = ({ level, state: text, reason }: PodRow): TemplateResult =>
  html`${badge(level, text)}${reason === '' ? nothing : html`<span class="reason" title=${reason}>${reason}</span>`}`;

const drawPath = ({ hostLink, network }: PodRow): TemplateResult | string =>
  hostLink === ''
    ? '–'
    : html`eth0 <span class="arrow">↔</span> ${hostLink} <span class="arrow">↔</span> ${network}`;
