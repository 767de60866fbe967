import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { ReconcileReport } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, outputOf } from '../command.js';
import { formatPlural } from '../render/counts.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';

/** As the agent answers it: errors are in words. */
type ReportView = Omit<ReconcileReport, 'changes' | 'removedEndpoints'> & {
  /** Absent: an agent of an earlier version. */
  readonly removedEndpoints?: ReconcileReport['removedEndpoints'];
  readonly changes: readonly {
    readonly owner?: string;
    readonly pod?: string;
    readonly action: 'repaired' | 'removed' | 'failed';
    readonly what: string;
    readonly gap?: true;
    readonly error?: string;
  }[];
};

export function define(command: Command, io: Io): void {
  command
    .description(
      'Compares the node with the records of its pods now, instead of at the next round: repairs differences, finishes interrupted requests and removes resources without owner.',
    )
    .action(() => run(command, io));
  addOutput(addAgent(command));
  addExamples(command, [
    ['podwire reconcile', ''],
    ['podwire reconcile -o json', '{"duration":…,"changes":[…],"removed":[…],"failures":[…]}'],
  ]).addHelpText('after', '\nExit code 4: something could not be repaired.');
}

/** A whole node may take as long as `deadlines.reconcile` allows, which is at most half an hour. */
const patience = 31 * 60_000;

async function run(command: Command, io: Io): Promise<void> {
  const api = await openLocatedApi(command, io, { timeout: patience });
  const report = await api.post<ReportView>('/v1/reconcile', {});
  if (report.failures.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, report);
  const { formatMilliseconds } = await import('../render/times.js');
  const paint = colorsFor(io, io.stdout);
  return writeLines(io, [
    ...report.changes.map((change) => describeChange(change, paint)),
    ...(report.removedEndpoints ?? report.removed.map((key) => ({ key }))).map(describeRemoved),
    ...report.failures.map((text) => `${paint.red('failure')}    ${printable(text)}`),
    `${summarize(report)} in ${formatMilliseconds(report.duration)}`,
  ]);
}

function describeChange(
  { action, what, owner, pod, gap, error }: ReportView['changes'][number],
  paint: Colors,
): string {
  const verb = action.padEnd(9);
  const whose = owner === undefined ? 'no owner' : printable(pod ?? owner);
  const why = error === undefined ? '' : `: ${printable(error)}`;
  const how = gap === undefined ? '' : ', with a gap in its traffic';
  return `${action === 'failed' ? paint.red(verb) : paint.yellow(verb)}  ${printable(what)} (${whose})${how}${why}`;
}

function describeRemoved({ key, pod }: { readonly key: string; readonly pod?: string }): string {
  return `removed    endpoint ${printable(pod ?? key)}`;
}

function summarize({ changes, removed, failures }: ReportView): string {
  if (changes.length + removed.length + failures.length === 0)
    return 'nothing to repair: everything is as planned, checked';
  return `${formatPlural(changes.length + removed.length, 'change')}, ${formatPlural(failures.length, 'failure')}`;
}
