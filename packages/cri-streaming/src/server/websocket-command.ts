import type { WebSocket } from 'ws';
import { commandChannels } from '../protocols.js';
import { codecOf } from '../websocket/channels.js';
import { type ChannelMode, createChannelConnection } from '../websocket/connection.js';
import type { CommandSession, WantedStreams } from './session.js';

/** The channels are there from the start; the client is told so by an empty message on the first one that we write. */
export function acceptWebSocketCommand(
  ws: WebSocket,
  protocol: string,
  { stdin, stdout, stderr }: WantedStreams,
): CommandSession {
  const codec = codecOf(protocol);
  const mode = (wanted: boolean, used: ChannelMode): ChannelMode => (wanted ? used : 'ignore');
  const connection = createChannelConnection(ws, { ...codec }, [
    mode(stdin, 'read'),
    mode(stdout, 'write'),
    mode(stderr, 'write'),
    'write',
    'read',
  ]);
  const channel = (number: number) => connection.channels[number]!;
  const first = stdout ? commandChannels.stdout : stderr ? commandChannels.stderr : commandChannels.error;
  ws.send(codec.base64 ? String(first) : Buffer.from([first]));
  return {
    protocol,
    ...(stdin ? { stdin: channel(commandChannels.stdin) } : {}),
    ...(stdout ? { stdout: channel(commandChannels.stdout) } : {}),
    ...(stderr ? { stderr: channel(commandChannels.stderr) } : {}),
    error: channel(commandChannels.error),
    resize: channel(commandChannels.resize),
    closed: connection.closed,
    close: () => connection.close(),
    destroy: () => connection.destroy(),
  };
}
