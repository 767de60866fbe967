import type { Socket } from 'node:net';
import { hasResizeStream } from '../protocols.js';
import { createSpdyConnection, type SpdyStream } from '../spdy/index.js';
import type { CommandSession, WantedStreams } from './session.js';

type StreamType = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize';

/**
 * Waits until the client has opened the streams that were asked for, in whatever order.
 * @throws Error when it does not in time, or goes
 */
export async function acceptSpdyCommand(
  socket: Socket,
  protocol: string,
  wanted: WantedStreams,
  timeoutMs: number,
): Promise<CommandSession> {
  const expected = expectedStreams(protocol, wanted);
  const streams = new Map<StreamType, SpdyStream>();
  let complete = (): void => undefined;
  const connection = createSpdyConnection(socket, {
    role: 'server',
    limits: { streams: 8 },
    onStream: (stream) => {
      const type = stream.headers.get('streamtype') as StreamType;
      if (!expected.has(type) || streams.has(type)) return false;
      streams.set(type, stream);
      // The streams that we write may not be filled by the client.
      if (type !== 'stdin' && type !== 'resize') stream.resume();
      if (streams.size === expected.size) complete();
      return true;
    },
  });
  await new Promise<void>((resolve, reject) => {
    const give = (message: string): void => {
      connection.destroy();
      reject(new Error(message));
    };
    const timer = setTimeout(() => give('the client did not open its streams in time'), timeoutMs);
    complete = () => {
      clearTimeout(timer);
      resolve();
    };
    void connection.closed.then(() => {
      clearTimeout(timer);
      reject(new Error('the client went before it had opened its streams'));
    });
  });
  const { error, ...others } = Object.fromEntries(streams) as Record<StreamType, SpdyStream>;
  return {
    protocol,
    ...others,
    error,
    closed: connection.closed,
    close: () => connection.close(),
    destroy: () => connection.destroy(),
  };
}

function expectedStreams(protocol: string, { stdin, stdout, stderr, tty }: WantedStreams): Set<StreamType> {
  const expected = new Set<StreamType>(['error']);
  if (stdin) expected.add('stdin');
  if (stdout) expected.add('stdout');
  if (stderr) expected.add('stderr');
  if (tty && hasResizeStream(protocol)) expected.add('resize');
  return expected;
}
