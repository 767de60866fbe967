import type { PodView } from '@podwire/podlet';
import { type Colors, printable } from '../io.js';
import { type Column, renderTable } from '../render/table.js';
import { formatAge } from '../render/times.js';
import { describeState, evaluatePod } from './readiness.js';
import { fullName } from './names.js';
import { renderReason } from './reason.js';

/** Pods for people, sorted by name. */
export function renderPodTable(
  pods: readonly PodView[],
  now: number,
  paint: Colors,
  width = Infinity,
): string[] {
  const head: Column[] = [
    { title: 'POD' },
    { title: 'READY', cut: 'never', importance: 7 },
    { title: 'STATE', cut: 'never', importance: Infinity },
    { title: 'RESTARTS', right: true, importance: 3 },
    { title: 'ADDRESSES', cut: 'list', least: 15, importance: 6 },
    { title: 'AGE', cut: 'never', importance: 4 },
    { title: 'REASON', least: 20, importance: 8 },
  ];
  const rows = pods
    .toSorted((a, b) => (fullName(a) < fullName(b) ? -1 : 1))
    .map((pod) => [
      printable(fullName(pod)),
      countReady(pod),
      paintState(pod, paint),
      String(pod.status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0)),
      pod.status.podIPs.map(({ ip }) => ip).join(' ') || '-',
      pod.status.startTime === undefined ? '-' : formatAge(now - Date.parse(pod.status.startTime)),
      printable(renderReason(pod)),
    ]);
  return renderTable({ head, rows }, paint, width);
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
