/** The pause process of a sandbox: started, found again, ended. */
import { isAlive } from '../native/alive.js';
import { connectControl } from '../native/control.js';
import { launch } from '../native/launch.js';
import { connectWhileAlive, untilDead } from '../native/connect.js';
import { killProcess } from '../native/process.js';
import { emitSandboxEvent } from '../emit-events.js';
import type { Context } from '../context.js';
import { sandboxDirectory } from '../state/directory.js';
import type { LiveProcess, SandboxEntry } from '../state/inventory.js';
import { planPauseProcess } from './plan.js';

/** Milliseconds for the pause process to end when it is told to; it is killed then. */
const END_MILLISECONDS = 2_000;
const KILL_MILLISECONDS = 10_000;

/** Starts it and stays connected. @throws LaunchError */
export async function startPauseProcess(context: Context, entry: SandboxEntry): Promise<void> {
  const directory = sandboxDirectory(context.directory, entry.record.id);
  const reach = (point: string): void => context.faults.reach(`pause:${point}`);
  const process = await launch(
    context.pauseProgram,
    'sandbox',
    directory,
    planPauseProcess(entry.record),
    reach,
  );
  reach('answered');
  watchPauseProcess(context, entry, { process, connection: await connectControl(directory) });
}

/** Connects to the pause process that a former process started, if it lives. */
export async function reconnectPauseProcess(context: Context, entry: SandboxEntry): Promise<void> {
  const live = await connectWhileAlive(sandboxDirectory(context.directory, entry.record.id), context.clock);
  if (live !== undefined) watchPauseProcess(context, entry, live);
}

function watchPauseProcess(context: Context, entry: SandboxEntry, pause: LiveProcess): void {
  entry.pause = pause;
  void pause.connection.ended.then(() => {
    if (entry.pause !== pause) return;
    entry.pause = undefined;
    if (entry.phase === 'ready' && !context.isReleased()) emitSandboxEvent(context, entry, 'STOPPED');
  });
}

/** Ends the pause process, whether this process knows it or not; one that is dead is fine. */
export async function endPauseProcess(context: Context, entry: SandboxEntry): Promise<void> {
  const directory = sandboxDirectory(context.directory, entry.record.id);
  if (!isAlive(directory)) return;
  const live = entry.pause ?? (await connectWhileAlive(directory, context.clock));
  if (live === undefined) return;
  live.connection.send('Q');
  try {
    await untilDead(directory, context.clock, AbortSignal.timeout(END_MILLISECONDS));
  } catch {
    killProcess(live.process);
    await untilDead(directory, context.clock, AbortSignal.timeout(KILL_MILLISECONDS));
  } finally {
    live.connection.close();
  }
}
