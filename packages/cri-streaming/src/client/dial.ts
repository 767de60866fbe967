import http from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { CriError } from '@podwire/cri';
import { onAbort, withDeadline } from '@podwire/platform';
import { spdyUpgrade, streamProtocolHeader } from '../protocols.js';
import { maxMessageLength } from '../websocket/connection.js';

export interface DialOptions {
  readonly signal?: AbortSignal;
  /** milliseconds for connection and upgrade, and once more for the streams of a command; 30 s when absent */
  readonly timeoutMs?: number;
}

/** The server answered, but not with the upgrade. */
export class UpgradeRefusedError extends CriError {
  /** HTTP status. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(
      status === 404 ? 'NOT_FOUND' : 'FAILED_PRECONDITION',
      `the server refused to stream (${status}): ${message}`,
    );
    this.name = 'UpgradeRefusedError';
    this.status = status;
  }
}

const defaultTimeoutMs = 30_000;
const maxRefusal = 4096;

/**
 * Upgrades to SPDY/3.1.
 * @throws UpgradeRefusedError, CriError UNAVAILABLE when nothing answers
 */
export async function dialSpdy(
  url: string,
  protocols: readonly string[],
  options: DialOptions,
): Promise<{ socket: Socket; protocol: string }> {
  const request = http.request(url, {
    method: 'POST',
    agent: false,
    // One line each: servers older than Kubernetes 1.16 do not split at commas.
    headers: {
      Connection: 'Upgrade',
      Upgrade: spdyUpgrade,
      [streamProtocolHeader]: [...protocols],
      'Content-Length': 0,
    },
  });
  const upgrade = (): Promise<Upgraded> =>
    new Promise((resolve, reject) => {
      request.once('upgrade', (response, socket, head) => resolve({ response, socket, head }));
      request.once('response', (response) => void refusal(response).then(reject));
      request.on('error', reject);
      request.end();
    });
  const { response, socket, head } = await awaitServer(options, () => request.destroy(), upgrade);
  socket.setNoDelay(true);
  if (head.length > 0) socket.unshift(head);
  // A server that names none speaks the oldest.
  const protocol = response.headers[streamProtocolHeader.toLowerCase()];
  return { socket, protocol: typeof protocol === 'string' ? protocol : protocols.at(-1)! };
}

/** Upgrades to WebSocket, otherwise as {@link dialSpdy}. It is paused when it comes. */
export async function dialWebSocket(
  url: string,
  protocols: readonly string[],
  options: DialOptions,
): Promise<WebSocket> {
  const ws = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], {
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: maxMessageLength,
  });
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      ws.once('open', () => {
        // Messages that the server sends with its answer must wait for a listener; the caller resumes.
        ws.pause();
        resolve();
      });
      ws.once('unexpected-response', (_request, response) => void refusal(response).then(reject));
      ws.on('error', reject);
    });
  await awaitServer(options, () => ws.terminate(), open);
  return ws;
}

/**
 * Waits for the server. `giveUp` ends the wait when the deadline has passed or the caller has given up.
 * @throws UpgradeRefusedError, CriError CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE
 */
export async function awaitServer<T>(
  { signal, timeoutMs = defaultTimeoutMs }: DialOptions,
  giveUp: () => void,
  work: () => Promise<T>,
): Promise<T> {
  return withDeadline(signal, timeoutMs, async (either) => {
    const unsubscribe = onAbort(either, giveUp);
    try {
      return await work();
    } catch (error) {
      giveUp();
      throw explain(error as Error, signal, either);
    } finally {
      unsubscribe();
    }
  });
}

interface Upgraded {
  readonly response: http.IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

async function refusal(response: http.IncomingMessage): Promise<UpgradeRefusedError> {
  let text = '';
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > maxRefusal) break;
    }
  } catch {
    // The status says enough.
  }
  return new UpgradeRefusedError(response.statusCode ?? 0, text.slice(0, maxRefusal).trim());
}

function explain(error: Error, signal: AbortSignal | undefined, either: AbortSignal): CriError {
  if (error instanceof UpgradeRefusedError) return error;
  if (signal?.aborted === true)
    return new CriError('CANCELLED', 'the call was given up', { cause: signal.reason });
  if (either.aborted) return new CriError('DEADLINE_EXCEEDED', 'the streaming server does not answer');
  return new CriError('UNAVAILABLE', `the streaming server cannot be reached: ${error.message}`, {
    cause: error,
  });
}
