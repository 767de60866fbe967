/** One request of HTTP and its answer, over a unix socket. */
import { type Answer, isDecided, readAnswer } from './http.js';
import { connectSocket, converse } from './socket.js';
import { nameError } from './streams.js';

/**
 * Waits for as long as the runtime lets it: only that knows its deadline, and ends the plugin then. A text says why
 * there is no answer.
 */
export async function exchange(
  path: string,
  head: readonly string[],
  body: string,
): Promise<Answer | string> {
  const content = Buffer.from(body);
  const request = Buffer.concat([Buffer.from([...head, '', ''].join('\r\n')), content]);
  const socket = await connectSocket(path, 0).catch((error: unknown) => nameError(error));
  if (typeof socket === 'string') return `failed to send CNI request: connect ${socket} ${path}`;
  let bytes = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (isDecided(bytes)) socket.destroy();
  };
  const { broke } = await converse(socket, { request, endsRequest: false, take });
  return readAnswer(bytes, broke);
}
