import type { Readable, Writable } from 'node:stream';
import {
  commandChannels,
  hasResizeStream,
  spdyCommandProtocols,
  webSocketCommandProtocols,
} from '../protocols.js';
import { createSpdyConnection } from '../spdy/index.js';
import { codecOf } from '../websocket/channels.js';
import { createChannelConnection } from '../websocket/connection.js';
import { awaitServer, dialSpdy, dialWebSocket, type DialOptions } from './dial.js';
import type { Transport } from './target.js';

/** The client's ends of an exec or attach. */
export interface ClientSession {
  readonly protocol: string;
  readonly stdin?: Writable;
  readonly stdout?: Readable;
  readonly stderr?: Readable;
  readonly error: Readable;
  readonly resize?: Writable;
  readonly closed: Promise<void>;
  close(): void;
  destroy(): void;
}

export type WantedEnds = { readonly [name in 'stdin' | 'stdout' | 'stderr' | 'tty']: boolean };

export function openSession(
  transport: Transport,
  url: string,
  wanted: WantedEnds,
  options: DialOptions,
): Promise<ClientSession> {
  return transport === 'spdy' ? openOverSpdy(url, wanted, options) : openOverWebSocket(url, wanted, options);
}

async function openOverSpdy(url: string, wanted: WantedEnds, options: DialOptions): Promise<ClientSession> {
  const { socket, protocol } = await dialSpdy(url, spdyCommandProtocols, options);
  const connection = createSpdyConnection(socket, { role: 'client' });
  const open = (type: string) => connection.open(new Map([['streamtype', type]]));
  return awaitServer(
    options,
    () => connection.destroy(),
    async () => {
      // Servers start once all are there; none may be missing, and none may come that they do not wait for.
      const error = await open('error');
      return {
        protocol,
        error,
        ...(wanted.stdin ? { stdin: await open('stdin') } : {}),
        ...(wanted.stdout ? { stdout: await open('stdout') } : {}),
        ...(wanted.stderr ? { stderr: await open('stderr') } : {}),
        ...(wanted.tty && hasResizeStream(protocol) ? { resize: await open('resize') } : {}),
        closed: connection.closed,
        close: () => connection.close(),
        destroy: () => connection.destroy(),
      };
    },
  );
}

async function openOverWebSocket(
  url: string,
  wanted: WantedEnds,
  options: DialOptions,
): Promise<ClientSession> {
  const ws = await dialWebSocket(url, webSocketCommandProtocols, options);
  const connection = createChannelConnection(ws, codecOf(ws.protocol), [
    wanted.stdin ? 'write' : 'ignore',
    wanted.stdout ? 'read' : 'ignore',
    wanted.stderr ? 'read' : 'ignore',
    'read',
    'write',
  ]);
  ws.resume();
  const channel = (number: number) => connection.channels[number]!;
  return {
    protocol: ws.protocol,
    error: channel(commandChannels.error),
    ...(wanted.stdin ? { stdin: channel(commandChannels.stdin) } : {}),
    ...(wanted.stdout ? { stdout: channel(commandChannels.stdout) } : {}),
    ...(wanted.stderr ? { stderr: channel(commandChannels.stderr) } : {}),
    ...(wanted.tty ? { resize: channel(commandChannels.resize) } : {}),
    closed: connection.closed,
    close: () => connection.close(),
    destroy: () => connection.destroy(),
  };
}
