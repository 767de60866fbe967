/** `podwire ipam release`: addresses whose owners will never free them. */
import type { FixReport, ReleasedAddress } from '@podwire/cluster-ipam/operations';
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { writeFix } from './ipam-check.js';
import { withSlowProgress } from './slow-progress.js';
import { intersect, readReport } from './reports.js';
import { withStore } from './with-store.js';

interface Options {
  readonly force?: boolean;
  readonly fromReport?: readonly string[];
  readonly node?: string;
}

export async function releaseOfCluster(
  command: Command,
  io: Io,
  addresses: readonly string[],
): Promise<void> {
  const { force = false, fromReport = [], node } = optionsOf(command) as Options;
  const options = node === undefined ? { force } : { force, node };
  if ((addresses.length === 0) === (fromReport.length === 0)) {
    return command.error('error: give addresses, or --from-report FILE', { exitCode: 2 });
  }
  if (fromReport.length > 0) return releaseReported(command, io, fromReport, force);
  const { releaseAddress } = await import('@podwire/cluster-ipam/operations');
  const released: ReleasedAddress[] = [];
  await withStore(command, io, async (access, signal) => {
    for (const address of addresses) released.push(await releaseAddress(access, address, options, signal));
  });
  if (released.some(({ done }) => done.length === 0)) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, { released });
  return writeLines(
    io,
    released.map(({ address, done }) => `${address}: ${done.length === 0 ? 'unallocated' : done.join('; ')}`),
  );
}

/**
 * Releases the findings of all reports that are still so. With force also those that belong to nodes that are
 * registered, for a cluster that no one changes any more.
 */
async function releaseReported(
  command: Command,
  io: Io,
  files: readonly string[],
  force: boolean,
): Promise<void> {
  const ids = intersect(files.map(readReport));
  const { fixCluster, releaseAddress } = await import('@podwire/cluster-ipam/operations');
  const report = await withStore(command, io, (access, signal) =>
    withSlowProgress(io, 'releasing what the reports have in common', async (): Promise<FixReport> => {
      const fixed = await fixCluster(access, { only: ids, foundBefore: ids }, signal);
      if (!force) return fixed;
      const forced = fixed.left.filter(({ problem }) => problem.kind === 'leaked' && ids.has(problem.id));
      for (const address of forced.flatMap(({ problem }) => problem.addresses)) {
        await releaseAddress(access, address, { force }, signal);
      }
      const left = fixed.left.filter((each) => !forced.includes(each) || each.problem.addresses.length === 0);
      const done = forced.filter(({ problem }) => problem.addresses.length > 0);
      const repaired = [
        ...fixed.repaired,
        ...done.map(({ problem }) => ({ problem, what: 'released by force' })),
      ];
      return { ...fixed, problems: left.map(({ problem }) => problem), repaired, left };
    }),
  );
  return writeFix(command, io, report);
}
