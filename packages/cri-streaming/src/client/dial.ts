import http from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { CriError } from '@podwire/cri';
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
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const request = http.request(url, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.any([deadline, ...(signal === undefined ? [] : [signal])]),
    // One line each: servers older than Kubernetes 1.16 do not split at commas.
    headers: {
      Connection: 'Upgrade',
      Upgrade: spdyUpgrade,
      [streamProtocolHeader]: [...protocols],
      'Content-Length': 0,
    },
  });
  const upgraded = await new Promise<{ response: http.IncomingMessage; socket: Socket; head: Buffer }>(
    (resolve, reject) => {
      request.once('upgrade', (response, socket, head) => resolve({ response, socket, head }));
      request.once('response', (response) => void refusal(response).then(reject));
      request.once('error', (error) => reject(unavailable(error, signal, deadline)));
      request.end();
    },
  );
  const { response, socket, head } = upgraded;
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
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const ws = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], {
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: maxMessageLength,
  });
  const deadline = AbortSignal.timeout(timeoutMs);
  const giveUp = (): void => ws.terminate();
  const reasons = signal === undefined ? [deadline] : [deadline, signal];
  for (const reason of reasons) reason.addEventListener('abort', giveUp, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      ws.once('open', () => {
        // What the server sends with its answer must wait for a listener; the caller resumes.
        ws.pause();
        resolve();
      });
      ws.once('unexpected-response', (_request, response) => void refusal(response).then(reject));
      ws.on('error', (error) => reject(unavailable(error, signal, deadline)));
      if (signal?.aborted === true) giveUp();
    });
  } catch (error) {
    ws.terminate();
    throw error;
  } finally {
    for (const reason of reasons) reason.removeEventListener('abort', giveUp);
  }
  return ws;
}

/**
 * Waits for what a server that has upgraded must still do. `giveUp` ends it when the time or the caller's patience is over.
 * @throws CriError
 */
export async function awaitServer<T>(
  { signal, timeoutMs = defaultTimeoutMs }: DialOptions,
  giveUp: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const reasons = signal === undefined ? [deadline] : [deadline, signal];
  for (const reason of reasons) reason.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    return await work();
  } catch (error) {
    giveUp();
    throw unavailable(error as Error, signal, deadline);
  } finally {
    for (const reason of reasons) reason.removeEventListener('abort', giveUp);
  }
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

function unavailable(error: Error, signal: AbortSignal | undefined, deadline: AbortSignal): CriError {
  if (signal?.aborted === true)
    return new CriError('CANCELLED', 'the call was given up', { cause: signal.reason });
  if (deadline?.aborted === true)
    return new CriError('DEADLINE_EXCEEDED', 'the streaming server does not answer');
  return new CriError('UNAVAILABLE', `the streaming server cannot be reached: ${error.message}`, {
    cause: error,
  });
}
