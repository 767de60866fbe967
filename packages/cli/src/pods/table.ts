import type { PodView } from '@podwire/podlet';
import { type Colors, printable } from '../io.js';
import { describePorts, describeRates } from '../render/endpoints.js';
import { type Column, renderTable } from '../render/table.js';
import { formatAge } from '../render/times.js';
import type { PodRow } from './list.js';
import { describeState, evaluatePod } from './readiness.js';
import { renderReason } from './reason.js';

export interface PodTableOptions {
  readonly now: number;
  /** Cells of a line. */
  readonly width: number;
  /** Also what the node agent knows. */
  readonly wide?: boolean;
}

const head: readonly Column[] = [
  { title: 'POD' },
  { title: 'READY', cut: 'never', importance: 9 },
  { title: 'STATE', cut: 'never', importance: Infinity },
  { title: 'RESTARTS', right: true, importance: 3 },
  { title: 'ADDRESSES', cut: 'list', least: 15, importance: 6 },
  { title: 'AGE', cut: 'never', importance: 4 },
];
const wideHead: readonly Column[] = [
  'LINK',
  'HOST PORTS',
  'RATES',
  'NETWORK',
  'MAC',
  'CONTAINER',
  'NETNS',
].map((title) => ({ title }));
/** It takes what the others leave. */
const reason: Column = { title: 'REASON', least: 16, importance: 8 };

/** Pods for people, in the order of the rows. */
export function renderPodTable(
  rows: readonly PodRow[],
  { now, width, wide = false }: PodTableOptions,
  paint: Colors,
): string[] {
  const table = {
    head: [...head, ...(wide ? wideHead : []), reason],
    rows: rows.map((row) => [
      ...(row.pod === undefined ? describeAttached(row, now) : describePod(row, row.pod, now, paint)),
      ...(wide ? describeAttachment(row) : []),
      row.pod === undefined ? '-' : printable(renderReason(row.pod, describeState(row.pod))),
    ]),
  };
  return renderTable(table, paint, width);
}

function describePod({ name, endpoints }: PodRow, pod: PodView, now: number, paint: Colors): string[] {
  const { podIPs, startTime, containerStatuses } = pod.status;
  const addresses =
    podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : endpoints.flatMap((each) => each.addresses);
  return [
    printable(name),
    countReady(pod),
    paintState(pod, paint),
    String(containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0)),
    addresses.join(' ') || '-',
    startTime === undefined ? '-' : formatAge(now - Date.parse(startTime)),
  ];
}

/** Rows of the node agent about a pod that another agent has started. */
function describeAttached({ name, endpoints }: PodRow, now: number): string[] {
  const phases = [...new Set(endpoints.map(({ phase }) => phase))];
  const oldest = Math.min(...endpoints.map(({ createdAt }) => Date.parse(createdAt)));
  return [
    printable(name),
    '-',
    phases.map((phase) => (phase === 'ready' ? 'attached' : phase)).join(' '),
    '-',
    endpoints.flatMap(({ addresses }) => addresses).join(' '),
    formatAge(now - oldest),
  ];
}

function describeAttachment({ endpoints }: PodRow): string[] {
  const all = (text: (endpoint: PodRow['endpoints'][number]) => string): string =>
    printable(endpoints.map(text).join(' ')) || '-';
  return [
    all(({ hostInterface }) => hostInterface),
    all(({ portMappings }) => describePorts(portMappings)),
    all(({ bandwidth }) => describeRates(bandwidth)),
    all(({ network }) => network),
    all(({ mac }) => mac),
    all(({ containerId }) => containerId),
    all(({ netns }) => netns),
  ];
}

/** `1/1` */
export function countReady({ status: { containerStatuses } }: PodView): string {
  return `${containerStatuses.filter(({ ready }) => ready).length}/${containerStatuses.length}`;
}

function paintState(pod: PodView, paint: Colors): string {
  const text = printable(describeState(pod));
  const { state } = evaluatePod(pod);
  if (state === 'ready' || state === 'succeeded') return paint.green(text);
  return state === 'failed' ? paint.red(text) : paint.yellow(text);
}
