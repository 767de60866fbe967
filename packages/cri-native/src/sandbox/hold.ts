/** The holder of a sandbox: started, found again, ended. */
import { isAlive } from '../native/alive.js';
import { connectControl } from '../native/control.js';
import { launch } from '../native/launch.js';
import { connectWhileAlive, untilDead } from '../native/meet.js';
import { killProcess } from '../native/process.js';
import { announceSandbox } from '../announce.js';
import type { Context } from '../context.js';
import { sandboxDirectory } from '../state/directory.js';
import type { Held, SandboxEntry } from '../state/inventory.js';
import { planHolder } from './plan.js';

/** Milliseconds for the holder to end when it is told to; it is killed then. */
const END_MILLISECONDS = 2_000;
const KILL_MILLISECONDS = 10_000;

/** Starts it and stays connected. @throws LaunchError */
export async function startHolder(context: Context, entry: SandboxEntry): Promise<void> {
  const directory = sandboxDirectory(context.directory, entry.record.id);
  const reach = (point: string): void => context.faults.reach(`holder:${point}`);
  const process = await launch(context.holder, 'sandbox', directory, planHolder(entry.record), reach);
  reach('answered');
  watchHolder(context, entry, { process, connection: await connectControl(directory) });
}

/** Connects to the holder that a former process started, if it lives. */
export async function findHolder(context: Context, entry: SandboxEntry): Promise<void> {
  const held = await connectWhileAlive(sandboxDirectory(context.directory, entry.record.id), context.clock);
  if (held !== undefined) watchHolder(context, entry, held);
}

function watchHolder(context: Context, entry: SandboxEntry, holder: Held): void {
  entry.holder = holder;
  void holder.connection.ended.then(() => {
    if (entry.holder !== holder) return;
    entry.holder = undefined;
    if (entry.phase === 'ready' && !context.hasLetGo()) announceSandbox(context, entry, 'STOPPED');
  });
}

/** Ends the holder, whether this process knows it or not; one that is dead is fine. */
export async function endHolder(context: Context, entry: SandboxEntry): Promise<void> {
  const directory = sandboxDirectory(context.directory, entry.record.id);
  if (!isAlive(directory)) return;
  const held = entry.holder ?? (await connectWhileAlive(directory, context.clock));
  if (held === undefined) return;
  held.connection.send('Q');
  try {
    await untilDead(directory, context.clock, AbortSignal.timeout(END_MILLISECONDS));
  } catch {
    killProcess(held.process);
    await untilDead(directory, context.clock, AbortSignal.timeout(KILL_MILLISECONDS));
  } finally {
    held.connection.close();
  }
}
