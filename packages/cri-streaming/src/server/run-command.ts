import { compact } from '@podwire/platform';
import type { StreamCall } from '../handlers.js';
import type { CallResult } from '../status.js';
import { type CommandSession, finishSession, readSizes } from './session.js';
import { withController } from './signals.js';

/** Runs one exec or attach for its client and sends the outcome. */
export async function runCommand(
  session: CommandSession,
  tty: boolean,
  stopping: AbortSignal,
  report: (error: unknown) => void,
  run: (call: StreamCall) => Promise<number>,
): Promise<void> {
  const { stdin, stdout, stderr } = session;
  const result = await withController([stopping], (controller) => {
    const { signal } = controller;
    void session.closed.then(() => controller.abort(new Error('the client is gone')));
    const call: StreamCall = {
      ...compact({ stdin, stdout, stderr }),
      tty,
      sizes: readSizes(session.resize),
      signal,
    };
    return resultOf(run(call), signal, report);
  });
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
