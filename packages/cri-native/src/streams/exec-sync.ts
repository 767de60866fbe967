import { CriError, ExecSyncResponse, type ExecSyncRequest } from '@podwire/cri';
import { onAbort } from '@podwire/platform';
import type { Readable } from 'node:stream';
import { type Context, toMilliseconds } from '../context.js';
import { startExec } from './exec.js';

/** The most that a message of the interface holds. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Runs a program to its end. @throws CriError DEADLINE_EXCEEDED after `timeout` seconds, when it is killed; UNKNOWN when it
 * cannot be started
 */
export async function execSync(
  context: Context,
  { containerId, cmd, timeout }: ExecSyncRequest,
  signal?: AbortSignal,
): Promise<ExecSyncResponse> {
  signal?.throwIfAborted();
  const running = startExec(context, containerId, cmd, { tty: false, stdin: false });
  const enough = new AbortController();
  const kill = (): void => running.kill();
  const unsubscribe = onAbort(signal, kill);
  let late = false;
  if (timeout > 0n)
    void context.clock.sleep(toMilliseconds(timeout), enough.signal).then(
      () => {
        late = true;
        kill();
      },
      () => undefined,
    );
  try {
    const output = [collect(running.child.stdout), collect(running.child.stderr)] as const;
    const [exitCode, stdout, stderr] = await Promise.all([running.exited, ...output, running.started]);
    if (late) throw new CriError('DEADLINE_EXCEEDED', `exec ${cmd[0]}: timeout of ${timeout} s exceeded`);
    signal?.throwIfAborted();
    return ExecSyncResponse.fromPartial({ exitCode, stdout, stderr });
  } finally {
    enough.abort();
    unsubscribe();
  }
}

async function collect(stream: Readable | null): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream ?? []) {
    const room = Math.max(0, mostBytes - length);
    parts.push((part as Buffer).subarray(0, room));
    length += (part as Buffer).length;
  }
  return Buffer.concat(parts);
}
