import type { DriftView, StatusView } from '../api/shapes.js';
import { printable } from '../io.js';
import { formatPlural } from './counts.js';

/** How many are named; `-o json` has all that the agent keeps. */
const SHOWN = 3;

/** Changes of others that the agent has put right, the last first; nothing where the agent is of an earlier version. */
export function describeDrift(
  { drift }: Pick<StatusView, 'drift'>,
  now: number,
  formatAge: (milliseconds: number) => string,
): string[] {
  if (drift === undefined) return [];
  return [
    `drift      ${summarize(drift)}`,
    ...drift.last.slice(0, SHOWN).map(({ at, owner, what, action, by, gap }) => {
      const who = by === undefined ? '' : `, changed by ${by}`;
      const how = gap === undefined ? '' : ', with a gap in its traffic';
      const age = formatAge(now - Date.parse(at));
      return printable(`           ${age} ago, ${owner}: ${action} ${what}${who}${how}`);
    }),
  ];
}

/** Agents of earlier versions do not report `pods`. */
type PartialView = Omit<DriftView, 'pods'> & Partial<Pick<DriftView, 'pods'>>;

function summarize({ watching, pods = watching, repaired, failed, lost }: PartialView): string {
  const inPods = pods ? [] : ['in pods found in rounds only'];
  const facts = [
    ...(watching ? ['watching', ...inPods] : ['found in rounds only']),
    ...(repaired === 0 ? [] : [`${repaired} repaired`]),
    ...(failed === 0 ? [] : [`${failed} could not be repaired`]),
    ...(lost === 0 ? [] : [`events lost ${formatPlural(lost, 'time')}`]),
  ];
  return facts.join(', ');
}
