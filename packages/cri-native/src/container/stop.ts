import { CriError } from '@podwire/cri';
import { type Context, toMilliseconds } from '../context.js';
import { isProcessAlive, killProcess } from '../native/process.js';
import { containerDirectory } from '../state/directory.js';
import { untilDead } from '../native/connect.js';
import { type ContainerEntry, findContainer } from '../state/inventory.js';
import { ignoreFailure } from '../failure.js';

const SIGTERM = 15;
const SIGKILL = 9;
/** Milliseconds that the kernel has to end what was killed. */
const KILL_MILLISECONDS = 10_000;
const SHIM_MILLISECONDS = 2_000;

/**
 * SIGTERM, and SIGKILL after so many seconds; at once for 0. One that does not run, or is not there, is fine. Calls may overlap: a shorter one
 * is not live up by a longer one.
 * @throws CriError DEADLINE_EXCEEDED when the kernel does not end it
 */
export async function stopContainer(
  context: Context,
  id: string,
  seconds: bigint,
  signal?: AbortSignal,
): Promise<void> {
  const entry = findContainer(context.inventory, id);
  if (entry === undefined) return;
  await ignoreFailure(entry.starting);
  if (entry.shim !== undefined && seconds > 0n) {
    await sendSignal(entry, SIGTERM);
    await endsWithin(context, entry, toMilliseconds(seconds), signal);
  }
  await killContainer(context, entry);
}

/** Ends it for certain. */
export async function killContainer(context: Context, entry: ContainerEntry): Promise<void> {
  await ignoreFailure(entry.starting);
  if (entry.shim === undefined) return killSurvivor(context, entry);
  const { process } = entry.shim;
  await sendSignal(entry, SIGKILL);
  if (!(await endsWithin(context, entry, SHIM_MILLISECONDS))) {
    // The shim itself may have been stopped (SIGSTOP).
    killProcess(process);
    if (!(await endsWithin(context, entry, KILL_MILLISECONDS))) throw notEnding(entry);
  }
  if (context.isReleased()) throw new CriError('UNAVAILABLE', 'the embedded runtime is closed');
}

const notEnding = ({ record }: ContainerEntry): CriError =>
  new CriError('DEADLINE_EXCEEDED', `container ${record.id} does not end`);

/** A program dies with its shim, a moment later; unless it has seen to it that it does not. */
export async function killSurvivor(context: Context, { record, state }: ContainerEntry): Promise<void> {
  if (state === undefined || state.end !== undefined) return;
  // The same number may name something else after a reboot, even with the same start.
  if (context.inventory.sandboxes.get(record.sandboxId)?.record.bootId !== context.bootId) return;
  const enough = AbortSignal.timeout(KILL_MILLISECONDS);
  for (killProcess(state.process); isProcessAlive(state.process);) await context.clock.sleep(1, enough);
}

/** The shim sends it, whose child it is: so the pid is certain. One that is just ending is fine. */
async function sendSignal({ shim }: ContainerEntry, number: number): Promise<void> {
  const acknowledged = shim?.connection.call('K', Uint8Array.of(number)) ?? Promise.resolve();
  await Promise.race([ignoreFailure(acknowledged), new Promise((resolve) => setImmediate(resolve))]);
}

async function endsWithin(
  context: Context,
  entry: ContainerEntry,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const enough = new AbortController();
  const either = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]);
  const pause = context.clock.sleep(milliseconds, either).then(() => false);
  try {
    return await Promise.race([(entry.ended ?? Promise.resolve()).then(() => true), pause]);
  } finally {
    pause.catch(() => undefined);
    enough.abort();
  }
}

/** The connection ends a moment before the shim does, which still has its lock. */
export async function untilShimIsGone(context: Context, id: string): Promise<void> {
  const directory = containerDirectory(context.directory, id);
  await untilDead(directory, context.clock, AbortSignal.timeout(KILL_MILLISECONDS));
}
