/** `podwire ipam check`: what is wrong with the addresses of a cluster. */
import type { CheckReport, Finding, FindingKind, FixReport } from '@podwire/cluster-ipam/operations';
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
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
    // What was found a moment ago says nothing about time.
    const old = reports.filter(({ at }) => access.clock.now() - at >= findingDefaults.grace);
    return withSlowProgress(io, 'mending', () => fixCluster(access, { foundBefore: intersect(old) }, signal));
  });
  return writeFix(command, io, report);
}

async function justCheck(command: Command, io: Io): Promise<void> {
  const { checkCluster } = await import('@podwire/cluster-ipam/operations');
  const report = await withStore(command, io, (access, signal) =>
    withSlowProgress(io, 'looking through the cluster, twice', () => checkCluster(access, {}, signal)),
  );
  if (report.findings.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, checkJson(report));
  const paint = colorsFor(io, io.stdout);
  const mendable = report.findings.filter(({ remedy }) => remedy.how === 'write').length;
  const hint = mendable === 0 ? [] : [`${mendable} of them can be repaired: podwire ipam check --fix`];
  return writeLines(io, [
    ...report.findings.flatMap((finding) => describeFinding(finding, paint)),
    summarize(report),
    ...hint,
  ]);
}

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

function summarize({ looked, findings }: CheckReport): string {
  const { pools, blocks, nodes, addresses, workloads } = looked;
  const what = [
    plural(pools, 'pool'),
    plural(blocks, 'block'),
    plural(nodes, 'node'),
    plural(addresses, 'address', 'addresses'),
    plural(workloads, 'workload'),
  ];
  const kinds = Object.entries(countKinds(findings)).map(([kind, count]) => `${count} ${kind}`);
  return `looked at ${what.join(', ')}: ${kinds.length === 0 ? 'nothing is wrong' : kinds.join(', ')}`;
}

function countKinds(findings: readonly Finding[]): Partial<Record<FindingKind, number>> {
  const counts: Partial<Record<FindingKind, number>> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function describeFinding({ kind, message, remedy }: Finding, paint: Colors): string[] {
  const advice = remedy.how === 'write' ? `--fix ${remedy.what}` : remedy.why;
  return [
    `${paint.red(kind.padEnd(10))} ${printable(message)}`,
    `${' '.repeat(11)}${paint.dim(printable(advice))}`,
  ];
}

/** One finding as programs get it. `mend` is what --fix does; `left` is why it does nothing. */
function findingJson({ remedy, ...finding }: Finding): object {
  return { ...finding, ...(remedy.how === 'write' ? { mend: remedy.what } : { left: remedy.why }) };
}

function checkJson({ findings, ...report }: CheckReport): object {
  return { ...report, findings: findings.map(findingJson) };
}

export function writeFix(command: Command, io: Io, report: FixReport): void {
  const { mended, left } = report;
  if (left.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') {
    return writeJson(io, {
      ...checkJson(report),
      mended: mended.map(({ finding, what }) => ({ id: finding.id, message: finding.message, what })),
      left: left.map(({ finding, why }) => ({ id: finding.id, message: finding.message, why })),
    });
  }
  const paint = colorsFor(io, io.stdout);
  return writeLines(io, [
    ...mended.map(
      ({ finding, what }) => `${paint.green('repaired')}   ${printable(finding.message)}: ${printable(what)}`,
    ),
    ...left.flatMap(({ finding, why }) => [
      `${paint.red('left')}       ${printable(finding.message)}`,
      `${' '.repeat(11)}${paint.dim(printable(why))}`,
    ]),
    `${mended.length} repaired, ${left.length} left; ${summarize(report)}`,
  ]);
}
