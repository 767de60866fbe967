import fs from 'node:fs';
import path from 'node:path';
import {
  CriError,
  isCriError,
  type PodSandboxConfig,
  type RunPodSandboxRequest,
  nowNanoseconds,
} from '@podwire/cri';
import { createNamespace, mountTmpfs } from '@podwire/linux';
import { withSpan } from '@podwire/tracing';
import { emitSandboxEvent } from '../emit-events.js';
import { type Context, newId, type Work } from '../context.js';
import { toCriError } from '../failure.js';
import { advanceSandbox, sandboxDirectory, writeSandbox } from '../state/directory.js';
import type { SandboxEntry } from '../state/inventory.js';
import type { SandboxRecord } from '../state/record.js';
import { writeSandboxFiles } from './files.js';
import { startPauseProcess } from './pause-process.js';
import { checkSandbox, metadataKey, namespacesOf, planAttachment } from './plan.js';
import { undoSandbox } from './teardown.js';

/**
 * Makes a sandbox: namespaces are pinned, then the network is set up in them, then the pause process starts. A failure takes all of
 * it back. The same call while it is under way joins it; when all who wait have given up, it is taken back too.
 * @throws CriError ALREADY_EXISTS when there is one of that name, namespace, uid and attempt
 */
export async function runSandbox(
  context: Context,
  { config, runtimeHandler }: RunPodSandboxRequest,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Work,
): Promise<string> {
  if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
  checkSandbox(config, runtimeHandler);
  const key = metadataKey(config);
  return context.creations.join(`sandbox ${key}`, signal, async (shared) => {
    refuseExisting(context, key);
    const either = AbortSignal.any([shared, context.closing]);
    return create(context, config, runtimeHandler, work(either));
  });
}

function refuseExisting(context: Context, key: string): void {
  const entries = [...context.inventory.sandboxes.values()];
  const existing = entries.find((entry) => metadataKey(entry.record.config) === key)?.record;
  if (existing === undefined) return;
  const attempt = existing.config.metadata?.attempt;
  const what = `attempt ${attempt} of ${describePod(existing.config)}`;
  throw new CriError('ALREADY_EXISTS', `${what} has a sandbox already: ${existing.id}`);
}

async function create(
  context: Context,
  config: PodSandboxConfig,
  runtimeHandler: string,
  work: Work,
): Promise<string> {
  const record = planRecord(context, config, runtimeHandler);
  const entry: SandboxEntry = { record, phase: 'creating', pause: undefined, addresses: [] };
  context.faults.reach('run:begin');
  writeSandbox(context.directory, record);
  context.inventory.sandboxes.set(record.id, entry);
  try {
    context.faults.reach('run:recorded');
    await build(context, entry, work);
  } catch (error) {
    await takeBack(context, entry, error);
    throw isCriError(error) ? error : toCriError(`sandbox of ${describePod(config)}`, error);
  }
  emitSandboxEvent(context, entry, 'CREATED');
  emitSandboxEvent(context, entry, 'STARTED');
  return record.id;
}

const describePod = ({ metadata }: PodSandboxConfig): string => `${metadata?.namespace}/${metadata?.name}`;

function planRecord(context: Context, config: PodSandboxConfig, runtimeHandler: string): SandboxRecord {
  const id = newId(context.random);
  const { network, ipc } = namespacesOf(config);
  return {
    ...{ id, config, runtimeHandler, createdAt: nowNanoseconds(context.clock), bootId: context.bootId },
    ...(network === 'host' ? {} : { netns: path.join(context.netnsDirectory, `podwire-${id}`) }),
    ...(ipc === 'host' ? {} : { shm: path.join(sandboxDirectory(context.directory, id), 'shm') }),
  };
}

async function build(context: Context, entry: SandboxEntry, { signal, span }: Work): Promise<void> {
  const { record } = entry;
  const reach = (point: string): void => context.faults.reach(point);
  if (record.shm !== undefined) makeSharedMemory(record.shm);
  if (record.netns !== undefined) {
    reach('run:pin');
    createNamespace(record.netns);
    reach('run:pinned');
    const options = { signal, parent: span.context };
    const attached = await context.network.setUp(planAttachment(record, record.netns), options);
    entry.addresses = attached.addresses;
    reach('run:attached');
  }
  signal.throwIfAborted();
  await withSpan(span.child('start pause process'), async () => startPauseProcess(context, entry));
  reach('run:live');
  writeSandboxFiles(sandboxDirectory(context.directory, record.id), record.config, entry.addresses);
  signal.throwIfAborted();
  reach('run:filed');
  advanceSandbox(context.directory, record.id, 'creating', 'ready');
  entry.phase = 'ready';
  reach('run:ready');
}

/** As Docker gives it. */
const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;

/** A file system of its own: the pod cannot fill the host's, and users of the host, who cannot enter the directory, not the pod's. */
function makeSharedMemory(directory: string): void {
  fs.mkdirSync(directory);
  mountTmpfs(directory, { sizeBytes: SHARED_MEMORY_BYTES, mode: 0o1777, forData: true });
}

/** A sandbox that cannot be removed now stays as not ready, so that stopping it tries again. */
async function takeBack(context: Context, entry: SandboxEntry, why: unknown): Promise<void> {
  try {
    await undoSandbox(context, entry);
    context.inventory.sandboxes.delete(entry.record.id);
  } catch (error) {
    const facts = { sandbox: entry.record.id, error, why };
    context.log.error(facts, 'a sandbox that failed could not be taken back; it stays as not ready');
    advanceSandbox(context.directory, entry.record.id, entry.phase, 'stopping');
    entry.phase = 'stopping';
  }
}
