/** `podwire ipam split` and `podwire ipam migrate`. */
import type { Migration } from '@podwire/cluster-ipam/operations';
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { startProgress } from '../render/progress.js';
import { withStore } from './with-store.js';

export async function splitOfCluster(command: Command, io: Io, name: string, into: number): Promise<void> {
  const { splitPool } = await import('@podwire/cluster-ipam/operations');
  const parts = await withStore(command, io, (access, signal) => splitPool(access, name, into, signal));
  if (outputOf(command) === 'json') return writeJson(io, { pools: parts });
  return writeLines(io, [
    `pool ${printable(name)} is now ${parts.length} pools; blocks and pods stay as they are`,
    ...parts.map((part) => `  ${part.name.padEnd(name.length + 5)}${part.cidr}`),
  ]);
}

export async function migrateOfCluster(command: Command, io: Io, from: string, to: string): Promise<void> {
  const { wait } = optionsOf(command) as { wait?: boolean };
  const { migratePool } = await import('@podwire/cluster-ipam/operations');
  const progress = startProgress(io);
  const tell = (migration: Migration): void =>
    progress.show(`moving pods from ${from} to ${to}`, describeLeft(migration));
  let migration: Migration;
  try {
    const options = wait === true ? { wait: tell } : {};
    migration = await withStore(command, io, (access, signal) =>
      migratePool(access, from, to, options, signal),
    );
  } finally {
    progress.end();
  }
  if (outputOf(command) === 'json') return writeJson(io, migration);
  return writeMigration(io, migration);
}

/** On a pipe every change is a line of its own, so this one is short. */
function describeLeft({ pods, blocks }: Migration): string {
  const away = blocks.filter(({ present }) => !present);
  const waits =
    away.length === 0
      ? ''
      : `, ${formatPlural(away.length, 'of a node that is unreachable', 'of nodes that are unreachable')}`;
  return `${formatPlural(pods.length, 'pod')}, ${formatPlural(blocks.length, 'block')} left${waits}`;
}

async function writeMigration(io: Io, migration: Migration): Promise<void> {
  const { from, to, pods, blocks, done } = migration;
  if (done)
    return writeLines(io, [`nothing has an address of ${printable(from)} any more, and it is deleted`]);
  const [{ renderTable }, { leaseTable }] = await Promise.all([
    import('../render/table.js'),
    import('./tables.js'),
  ]);
  const away = new Set(blocks.flatMap(({ present, node }) => (present || node === undefined ? [] : [node])));
  return writeLines(io, [
    `pool ${printable(from)} is disabled: new pods get addresses of ${printable(to)}; ${describeLeft(migration)}`,
    ...(pods.length === 0
      ? []
      : renderTable(leaseTable(pods, io.now()), colorsFor(io, io.stdout), widthOf(io))),
    ...[...away].map(
      (node) =>
        `node ${printable(node)} is unreachable and gives nothing back: podwire nodes forget ${printable(node)}`,
    ),
    ...(pods.length === 0
      ? []
      : ['Delete these pods and let them be made again, as it suits their workloads.']),
    `Then \`podwire ipam migrate ${printable(from)} ${printable(to)} --wait\` deletes ${printable(from)}.`,
  ]);
}
