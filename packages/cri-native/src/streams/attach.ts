import { CriError } from '@podwire/cri';
import { onAbort } from '@podwire/platform';
import type { StreamCall } from '@podwire/cri-streaming';
import type { Context } from '../context.js';
import { connectControl, type ControlConnection } from '../native/control.js';
import { encodeSize, type Frame, maxFrameBytes } from '../native/frames.js';
import { containerDirectory } from '../state/directory.js';
import { needRunning } from '../state/inventory.js';

/** Joins a client's streams to those of a container's program, until it ends or the client goes. */
export async function attachStream(context: Context, containerId: string, call: StreamCall): Promise<void> {
  const { record } = needRunning(context.inventory, containerId);
  if (call.tty !== record.config.tty)
    throw new CriError('INVALID_ARGUMENT', `the container has ${record.config.tty ? 'a' : 'no'} terminal`);
  const directory = containerDirectory(context.directory, record.id);
  const connection = await connectControl(directory, (frame) => writeOutput(frame, call, connection));
  const unsubscribe = onAbort(call.signal, () => connection.close());
  try {
    call.signal.throwIfAborted(); // it may have ended meanwhile
    await connection.call('A');
    // First, so that a program finds the terminal's size that is known already when it gets its first input.
    void followSizes(call, connection);
    if (record.config.stdin) void followInput(call, connection);
    else call.stdin?.resume();
    await connection.ended;
  } finally {
    unsubscribe();
    connection.close();
  }
}

function writeOutput({ type, bytes }: Frame, call: StreamCall, connection: ControlConnection): void {
  const to = type === 'o' ? call.stdout : call.stderr;
  if (to === undefined || to.write(bytes)) return;
  connection.socket.pause();
  to.once('drain', () => connection.socket.resume());
}

async function followInput({ stdin }: StreamCall, connection: ControlConnection): Promise<void> {
  try {
    for await (const part of stdin ?? []) await sendInput(connection, part as Buffer);
    if (stdin !== undefined) connection.send('E');
  } catch {
    // The client is gone; so will be the connection.
  }
}

/** In pieces, each when the one before is on its way: a program that does not read holds the client up. */
async function sendInput(connection: ControlConnection, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += maxFrameBytes) {
    connection.send('I', bytes.subarray(at, at + maxFrameBytes));
    if (connection.socket.writableNeedDrain)
      await Promise.race([
        new Promise((resolve) => connection.socket.once('drain', resolve)),
        connection.ended,
      ]);
  }
}

async function followSizes({ sizes }: StreamCall, connection: ControlConnection): Promise<void> {
  try {
    for await (const { width, height } of sizes) connection.send('R', encodeSize({ width, height }));
  } catch {
    // As above.
  }
}
