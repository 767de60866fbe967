/** `podwire ipam check`: what is wrong with the addresses of a cluster. */
import type { CheckReport, Problem, ProblemKind, FixReport } from '@podwire/cluster-ipam/operations';
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { formatPlural } from '../render/counts.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { withSlowProgress } from './slow-progress.js';
import { intersect, readReport } from './reports.js';
import { withStore } from './with-store.js';

export async function checkOfCluster(command: Command, io: Io): Promise<void> {
  const { fix, fromReport = [] } = optionsOf(command) as { fix?: boolean; fromReport?: readonly string[] };
  if (fix !== true) return justCheck(command, io);
  const { fixCluster, findingDefaults } = await import('@podwire/cluster-ipam/operations');
  const reports = fromReport.map(readReport);
  const report = await withStore(command, io, (access, signal) => {
    // A report of a moment ago is no evidence that a finding lasts.
    const old = reports.filter(({ at }) => access.clock.now() - at >= findingDefaults.grace);
    return withSlowProgress(io, 'repairing', () =>
      fixCluster(access, { foundBefore: intersect(old) }, signal),
    );
  });
  return writeFix(command, io, report);
}

async function justCheck(command: Command, io: Io): Promise<void> {
  const { checkCluster } = await import('@podwire/cluster-ipam/operations');
  const report = await withStore(command, io, (access, signal) =>
    withSlowProgress(io, 'looking through the cluster, twice', () => checkCluster(access, {}, signal)),
  );
  if (report.problems.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, checkJson(report));
  const paint = colorsFor(io, io.stdout);
  const repairable = report.problems.filter(({ fix }) => fix.how === 'write').length;
  const hint = repairable === 0 ? [] : [`${repairable} of them can be repaired: podwire ipam check --fix`];
  return writeLines(io, [
    ...report.problems.flatMap((problem) => describeProblem(problem, paint)),
    summarize(report),
    ...hint,
  ]);
}

function summarize({ looked, problems }: CheckReport): string {
  const { pools, blocks, nodes, addresses, workloads } = looked;
  const what = [
    formatPlural(pools, 'pool'),
    formatPlural(blocks, 'block'),
    formatPlural(nodes, 'node'),
    formatPlural(addresses, 'address'),
    formatPlural(workloads, 'workload'),
  ];
  const kinds = Object.entries(countKinds(problems)).map(([kind, count]) => `${count} ${kind}`);
  return `looked at ${what.join(', ')}: ${kinds.length === 0 ? 'nothing is wrong' : kinds.join(', ')}`;
}

function countKinds(problems: readonly Problem[]): Partial<Record<ProblemKind, number>> {
  const counts: Partial<Record<ProblemKind, number>> = {};
  for (const { kind } of problems) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function describeProblem({ kind, message, fix }: Problem, paint: Colors): string[] {
  const advice = fix.how === 'write' ? `--fix ${fix.what}` : fix.why;
  return [
    `${paint.red(kind.padEnd(10))} ${printable(message)}`,
    `${' '.repeat(11)}${paint.dim(printable(advice))}`,
  ];
}

/** One problem as programs get it. `mend` is what --fix does; `left` is why it does nothing. */
function problemJson({ fix, ...problem }: Problem): object {
  return { ...problem, ...(fix.how === 'write' ? { mend: fix.what } : { left: fix.why }) };
}

function checkJson({ at, revision, looked, problems }: CheckReport): object {
  return { at, revision, looked, findings: problems.map(problemJson) };
}

export function writeFix(command: Command, io: Io, report: FixReport): void {
  const { repaired, left } = report;
  if (left.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') {
    return writeJson(io, {
      ...checkJson(report),
      mended: repaired.map(({ problem, what }) => ({ id: problem.id, message: problem.message, what })),
      left: left.map(({ problem, why }) => ({ id: problem.id, message: problem.message, why })),
    });
  }
  const paint = colorsFor(io, io.stdout);
  return writeLines(io, [
    ...repaired.map(
      ({ problem, what }) => `${paint.green('repaired')}   ${printable(problem.message)}: ${printable(what)}`,
    ),
    ...left.flatMap(({ problem, why }) => [
      `${paint.red('left')}       ${printable(problem.message)}`,
      `${' '.repeat(11)}${paint.dim(printable(why))}`,
    ]),
    `${repaired.length} repaired, ${left.length} left; ${summarize(report)}`,
  ]);
}
