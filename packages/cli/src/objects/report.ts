/** The closing report of `apply` and `delete`. */
import { colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { describeInForce, type InForce } from './wait.js';
import type { ObjectReference, Revision } from '@podwire/objects';
import { shortName } from './names.js';

export interface Outcome {
  readonly reference: ObjectReference;
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'deleted' | 'absent';
  readonly revision: Revision;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  readonly dryRun: boolean;
  readonly inForce?: InForce | undefined;
}

export function report(io: Io, format: string, { outcomes, dryRun, inForce }: Report): void {
  if (inForce !== undefined && !(inForce.complete && inForce.problems.length === 0))
    io.exitCode = exitCodes.notAsItShould;
  if (format === 'json') {
    const objects = outcomes.map(({ reference, outcome, revision }) => ({ ...reference, outcome, revision }));
    return writeJson(io, { objects, dryRun, ...(inForce !== undefined && { inForce }) });
  }
  const suffix = dryRun ? ' (dry run)' : '';
  if (outcomes.length > 0)
    writeLines(
      io,
      outcomes.map(({ reference, outcome }) => `${printable(shortName(reference))} ${outcome}${suffix}`),
    );
  const paint = colorsFor(io, io.stderr);
  for (const line of inForce === undefined ? [] : describeInForce(inForce))
    io.stderr.write(`${paint.yellow('warning:')} ${printable(line)}\n`);
}
