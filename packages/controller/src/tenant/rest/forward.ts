/** A master that does not lead hands every request on to the one that does. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { PodwireError } from '@podwire/errors';

/** Marks a request that was handed on: it is not handed on again, or it would go round while the leader changes. */
export const forwardedHeader = 'podwire-forwarded';

export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Headers of one connection, RFC 9110 §7.6.1, and those that are made anew. */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'content-length', 'expect'],
]);

const copyHeaders = (headers: IncomingHttpHeaders): http.OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)));

/**
 * Sends the request to the leader and its answer back.
 * @param leader `HOST:PORT`
 * @throws PodwireError STORE_UNAVAILABLE when the leader does not answer
 */
export async function forwardRequest(
  leader: string,
  request: ForwardedRequest,
  response: http.ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ask(leader, request, signal).catch((cause: unknown) => {
    throw new PodwireError('STORE_UNAVAILABLE', `the leader ${leader} does not answer`, {
      cause,
      action: 'Try again: if it is gone, another master leads after the time of its lease, 30 s.',
    });
  });
  const { 'content-length': length } = answer.headers;
  const headers = {
    ...copyHeaders(answer.headers),
    ...(length !== undefined && { 'content-length': length }),
  };
  response.writeHead(answer.statusCode ?? 502, headers);
  // The signal ends what comes in: it also aborts when the caller goes with the whole answer, which is no failure.
  await pipeline(answer, response);
}

function ask(
  leader: string,
  { method, url, headers, body }: ForwardedRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const target = new URL(`http://${leader}`);
    const request = http.request(
      {
        ...{ host: target.hostname.replace(/^\[|\]$/g, ''), port: target.port, path: url, method, signal },
        headers: { ...copyHeaders(headers), [forwardedHeader]: '1', 'content-length': body.length },
      },
      resolve,
    );
    request.once('error', reject);
    request.end(body);
  });
}
