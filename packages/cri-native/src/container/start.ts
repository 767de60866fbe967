import fs from 'node:fs';
import path from 'node:path';
import { CriError, nowNanoseconds } from '@podwire/cri';
import { withSpan } from '@podwire/tracing';
import { emitContainerEvent } from '../emit-events.js';
import type { Context, Work } from '../context.js';
import { toCriError } from '../failure.js';
import { connectControl } from '../native/control.js';
import { launch, LaunchError } from '../native/launch.js';
import { readStateFile } from '../native/state-file.js';
import { containerDirectory, sandboxDirectory } from '../state/directory.js';
import {
  type ContainerEntry,
  type LiveProcess,
  isReady,
  needContainer,
  needRunning,
  needSandbox,
} from '../state/inventory.js';
import { logPathOf, pidSharing, planContainer, type ContainerPlanContext } from './plan.js';
import { readAccounts } from './user.js';

/** @throws CriError NOT_FOUND, FAILED_PRECONDITION when it is not new or its sandbox not ready, UNKNOWN with what failed */
export async function startContainer(context: Context, id: string, work: Work): Promise<void> {
  const entry = needContainer(context.inventory, id);
  const sandbox = needSandbox(context.inventory, entry.record.sandboxId);
  if (!isReady(sandbox))
    throw new CriError('FAILED_PRECONDITION', `sandbox ${sandbox.record.id} is not ready`);
  if (entry.starting !== undefined)
    throw new CriError('FAILED_PRECONDITION', `container ${entry.record.id} was started before`);
  // Set before anything is awaited: a Stop that comes now waits for it.
  entry.starting = withSpan(work.span.child('start process'), async () => start(context, entry));
  try {
    await entry.starting;
  } catch (error) {
    throw toCriError(`start container ${entry.record.config.metadata?.name}`, error);
  }
}

async function start(context: Context, entry: ContainerEntry): Promise<void> {
  const { record } = entry;
  const directory = containerDirectory(context.directory, record.id);
  const reach = (point: string): void => context.faults.reach(`start:${point}`);
  const planContext = planContextOf(context, entry);
  prepareHost(entry, planContext);
  reach('prepared');
  try {
    const process = await launch(
      context.pauseProgram,
      'container',
      directory,
      planContainer(record, planContext),
      reach,
    );
    reach('answered');
    await connectShim(context, entry, process);
  } catch (error) {
    entry.state = readStateFile(directory) ?? failedStart(context, error);
    entry.ended = Promise.resolve();
    emitContainerEvent(context, entry, 'STOPPED');
    throw error;
  }
  emitContainerEvent(context, entry, 'STARTED');
  // If it ended before the connection, no other event reports its end.
  if (entry.shim === undefined) emitContainerEvent(context, entry, 'STOPPED');
}

/** The state that podwire-hold itself would have written. */
function failedStart(context: Context, error: unknown): NonNullable<ContainerEntry['state']> {
  const message = error instanceof LaunchError ? error.message : String(error);
  const finishedAt = nowNanoseconds(context.clock);
  const end = { code: 128, signal: 0, finishedAt, error: message };
  return { process: { pid: 0, start: 0n }, startedAt: 0n, end };
}

/** A program may have ended before a client could connect: then its state says so already. */
async function connectShim(
  context: Context,
  entry: ContainerEntry,
  process: LiveProcess['process'],
): Promise<void> {
  const directory = containerDirectory(context.directory, entry.record.id);
  try {
    watchShim(context, entry, { process, connection: await connectControl(directory) });
  } catch (error) {
    const state = readStateFile(directory);
    if (state?.end === undefined) throw error;
    entry.state = state;
    entry.ended = Promise.resolve();
  }
}

/** From now on its end is noticed at once. */
export function watchShim(context: Context, entry: ContainerEntry, shim: LiveProcess): void {
  const directory = containerDirectory(context.directory, entry.record.id);
  entry.shim = shim;
  entry.state = readStateFile(directory);
  entry.ended = shim.connection.ended.then(() => {
    if (context.isReleased()) return;
    entry.shim = undefined;
    entry.state = readStateFile(directory) ?? entry.state;
    emitContainerEvent(context, entry, 'STOPPED');
  });
}

function planContextOf(context: Context, entry: ContainerEntry): ContainerPlanContext {
  const { config, sandboxId, root } = entry.record;
  const sandbox = needSandbox(context.inventory, sandboxId);
  const pause = sandbox.pause?.process;
  if (pause === undefined) throw new CriError('FAILED_PRECONDITION', `sandbox ${sandboxId} is not ready`);
  const targetId = config.linux?.securityContext?.namespaceOptions?.targetId ?? '';
  const joins = pidSharing(config, sandbox.record) === 'target';
  return {
    sandbox: sandbox.record,
    sandboxDirectory: sandboxDirectory(context.directory, sandboxId),
    pause,
    accounts: readAccounts(root),
    ...(joins ? { target: needRunning(context.inventory, targetId).shim.process } : {}),
  };
}

/** The source of a mount is made as a directory if it is missing, as containerd does; so are the log's directories. */
function prepareHost({ record }: ContainerEntry, { sandbox }: ContainerPlanContext): void {
  for (const { hostPath } of record.config.mounts)
    if (!fs.existsSync(hostPath)) fs.mkdirSync(hostPath, { recursive: true, mode: 0o755 });
  const log = logPathOf(record.config, sandbox);
  if (log !== undefined) fs.mkdirSync(path.dirname(log), { recursive: true, mode: 0o755 });
}
