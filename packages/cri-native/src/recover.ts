/** After a start: everything that a former process left is adopted or taken away. */
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { withDeadline } from '@podwire/platform';
import type { Context } from './context.js';
import { watchShim } from './container/start.js';
import { removeContainer } from './container/remove.js';
import { killSurvivor } from './container/stop.js';
import { wasLaunched } from './native/alive.js';
import { connectWhileAlive } from './native/connect.js';
import { readStateFile } from './native/state-file.js';
import { reconnectPauseProcess } from './sandbox/pause-process.js';
import { undoSandbox } from './sandbox/teardown.js';
import {
  advanceSandbox,
  containerDirectory,
  deleteDirectory,
  readContainers,
  readSandboxes,
  retireSandbox,
  sandboxDirectory,
  type StoredSandbox,
} from './state/directory.js';
import type { ContainerEntry, SandboxEntry } from './state/inventory.js';
import { type ContainerRecord, unknownContainer, unknownSandbox } from './state/record.js';

/** Sandboxes first: what containers are found for is known then. */
export async function recover(context: Context): Promise<void> {
  const sandboxes = readSandboxes(context.directory);
  const containers = readContainers(context.directory);
  await Promise.all(sandboxes.whole.map((stored) => recoverSandbox(context, stored)));
  for (const { id, why } of sandboxes.unusable) showUnknown(context, id, why);
  await Promise.all(containers.whole.map((record) => recoverContainer(context, record)));
  for (const { id, why, sandboxId } of containers.unusable) {
    context.log.error(
      { container: id, why },
      'the record of a container cannot be used; it can only be removed',
    );
    await recoverContainer(context, unknownContainer(id, sandboxId));
  }
  const rubbish = [...sandboxes.rubbish, ...containers.rubbish];
  await Promise.all(rubbish.map((directory) => deleteDirectory(directory, context.log)));
  const count = sandboxes.whole.length + sandboxes.unusable.length;
  if (count > 0) collectGarbage(context);
  if (count > 0) context.log.info({ sandboxes: count, containers: containers.whole.length }, 'recovered');
}

/** Milliseconds. Until it is done no pod gets a network; what it does not get to is found at the next start. */
const GARBAGE_MILLISECONDS = 30_000;

/**
 * Begun before the first call, and exclusive: what is attached later is not garbage. It is not awaited,
 * since a plugin may hang.
 */
function collectGarbage(context: Context): void {
  const live = [...context.inventory.sandboxes.values()].filter((entry) => entry.phase !== 'stopped');
  const ids = live.map((entry) => entry.record.id);
  const done = withDeadline(context.closing, GARBAGE_MILLISECONDS, (signal) =>
    context.network.collectGarbage(ids, { signal }),
  );
  done.catch((error: unknown) =>
    context.log.warn(
      { why: describeError(error) },
      'addresses of sandboxes that are gone may still be taken',
    ),
  );
}

/** Not ready, without a name: the kubelet or podlet stops and removes it. */
function showUnknown(context: Context, id: string, why: string): void {
  context.log.error({ sandbox: id, why }, 'the record of a sandbox cannot be used; it can only be removed');
  retireSandbox(context.directory, id);
  const shm = path.join(sandboxDirectory(context.directory, id), 'shm');
  const record = unknownSandbox(id, { netns: path.join(context.netnsDirectory, `podwire-${id}`), shm });
  context.inventory.sandboxes.set(id, { record, phase: 'stopping', pause: undefined, addresses: [] });
}

async function recoverSandbox(context: Context, { record, phase }: StoredSandbox): Promise<void> {
  const entry: SandboxEntry = { record, phase, pause: undefined, addresses: [] };
  if (phase === 'creating') return rollBack(context, entry);
  context.inventory.sandboxes.set(record.id, entry);
  if (phase !== 'ready') return;
  await reconnectPauseProcess(context, entry);
  entry.addresses = await readAddresses(context, record.id);
}

/** One unreadable file must not stop the runtime; this sandbox is reported without addresses. */
async function readAddresses(context: Context, id: string): Promise<readonly string[]> {
  try {
    return (await context.network.addresses(id)) ?? [];
  } catch (error) {
    context.log.error(
      { sandbox: id, why: describeError(error) },
      'could not read the addresses of a sandbox',
    );
    return [];
  }
}

/** It was never reported. What cannot be removed now is shown as not ready, so that a client stops it. */
async function rollBack(context: Context, entry: SandboxEntry): Promise<void> {
  try {
    await undoSandbox(context, entry);
  } catch (error) {
    const facts = { sandbox: entry.record.id, why: describeError(error) };
    context.log.error(facts, 'a sandbox that was only begun could not be taken back yet');
    advanceSandbox(context.directory, entry.record.id, 'creating', 'stopping');
    entry.phase = 'stopping';
    context.inventory.sandboxes.set(entry.record.id, entry);
  }
}

async function recoverContainer(context: Context, record: ContainerRecord): Promise<void> {
  const directory = containerDirectory(context.directory, record.id);
  const launched = wasLaunched(directory);
  const entry: ContainerEntry = {
    record,
    shim: undefined,
    state: undefined,
    starting: launched ? Promise.resolve() : undefined,
    ended: undefined,
  };
  context.inventory.containers.set(record.id, entry);
  if (launched) await findShim(context, entry, directory);
  const isOrphan = record.sandboxId !== '' && !context.inventory.sandboxes.has(record.sandboxId);
  if (isOrphan) await removeContainer(context, record.id);
}

async function findShim(context: Context, entry: ContainerEntry, directory: string): Promise<void> {
  const shim = await connectWhileAlive(directory, context.clock);
  if (shim !== undefined) return watchShim(context, entry, shim);
  entry.state = readStateFile(directory);
  entry.ended = Promise.resolve();
  await killSurvivor(context, entry);
}
