/**
 * Simulations in a process of their own. Thousands of nodes in one heap are mostly work for V8's collector, and the options that keep
 * an agent's heap small make it collect five times as often: that would be measured, and not the nodes.
 */
import { fork } from 'node:child_process';
import { simulate, type SimulationOptions, type SimulationResult } from '@podwire/simulation';

type Message =
  | { readonly done: number; readonly total: number }
  | { readonly result: SimulationResult }
  | { readonly failed: string };

export async function simulateApart(
  options: SimulationOptions,
  progress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<SimulationResult> {
  signal.throwIfAborted();
  const last = await untilEnded(options, progress, signal);
  signal.throwIfAborted();
  if (last !== undefined && 'result' in last) return last.result;
  throw new Error(last !== undefined && 'failed' in last ? last.failed : 'the simulation has ended early');
}

/** @returns what the process has said last, when it is gone */
async function untilEnded(
  options: SimulationOptions,
  progress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<Message | undefined> {
  let last: Message | undefined;
  const child = fork(import.meta.filename, ['simulate'], { execArgv: [], signal, killSignal: 'SIGKILL' });
  child.on('message', (message: Message) => {
    last = message;
    if ('done' in message) progress(message.done, message.total);
  });
  return new Promise((resolve, reject) => {
    // Aborting is an error too; then its end is waited for.
    child.on('error', (error) => void (signal.aborted || reject(error)));
    // Its messages may arrive after its end, but not after the channel's.
    let left = 2;
    const end = (): void => void (--left === 0 && resolve(last));
    child.once('exit', end).once('disconnect', end);
    child.send(options);
  });
}

async function serve(options: SimulationOptions): Promise<Message> {
  const send = (message: Message): void => void process.send?.(message);
  try {
    return { result: await simulate(options, (done, total) => send({ done, total })) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'simulate') {
  process.once('message', (options: SimulationOptions) => {
    void serve(options).then((message) => process.send?.(message, () => process.disconnect()));
  });
}
