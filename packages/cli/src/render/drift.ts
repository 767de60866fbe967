import type { DriftView, StatusView } from '../api/shapes.js';
import { printable } from '../io.js';
import { formatPlural } from './counts.js';

/** How many are named; `-o json` has all that the agent keeps. */
const SHOWN = 3;

/** What others have changed and the agent has put right, the last first; nothing where the agent is of an earlier version. */
export function describeDrift(
  { drift }: Pick<StatusView, 'drift'>,
  now: number,
  formatAge: (milliseconds: number) => string,
): string[] {
  if (drift === undefined) return [];
  return [
    `drift      ${summarize(drift)}`,
    ...drift.last.slice(0, SHOWN).map(({ at, owner, what, action, by }) => {
      const who = by === undefined ? '' : `, changed by ${by}`;
      const age = formatAge(now - Date.parse(at));
      return printable(`           ${age} ago, ${owner}: ${action} ${what}${who}`);
    }),
  ];
}

function summarize({ watching, repaired, failed, lost }: DriftView): string {
  const facts = [
    watching ? 'watching' : 'found in rounds only',
    ...(repaired === 0 ? [] : [`${repaired} repaired`]),
    ...(failed === 0 ? [] : [`${failed} could not be repaired`]),
    ...(lost === 0 ? [] : [`events lost ${formatPlural(lost, 'time')}`]),
  ];
  return facts.join(', ');
}
