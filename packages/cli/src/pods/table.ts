import type { PodView } from '@podwire/podlet';
import { type Colors, printable } from '../io.js';
import { renderTable } from '../render/table.js';
import { formatAge } from '../render/times.js';
import { describeState, evaluatePod } from './readiness.js';
import { fullName } from './names.js';
import { renderReason } from './reason.js';

/** Pods for people, sorted by name. */
export function renderPodTable(pods: readonly PodView[], now: number, paint: Colors): string[] {
  const head = ['POD', 'READY', 'STATE', 'RESTARTS', 'ADDRESSES', 'AGE', 'REASON'];
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
  return renderTable({ head, rows, right: [3] }, paint);
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
