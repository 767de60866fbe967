import type { StreamCall } from '../handlers.js';
import type { CallResult } from '../status.js';
import { type CommandSession, finishSession, readSizes } from './session.js';

/** Runs one exec or attach for its client and sends the outcome. */
export async function runCommand(
  session: CommandSession,
  tty: boolean,
  stopping: AbortSignal,
  report: (error: unknown) => void,
  run: (call: StreamCall) => Promise<number>,
): Promise<void> {
  const gone = new AbortController();
  void session.closed.then(() => gone.abort(new Error('the client is gone')));
  const { stdin, stdout, stderr } = session;
  const call: StreamCall = {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    tty,
    sizes: readSizes(session.resize),
    signal: AbortSignal.any([gone.signal, stopping]),
  };
  const result = await resultOf(run(call), call.signal, report);
  await finishSession(session, result);
}

async function resultOf(
  running: Promise<number>,
  signal: AbortSignal,
  report: (error: unknown) => void,
): Promise<CallResult> {
  try {
    return { exitCode: await running };
  } catch (error) {
    if (!signal.aborted) report(error);
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
