/** One request for a manifest. Nothing that a server does makes it throw. */
import { compact, withDeadline } from '@podwire/platform';
import { unescape } from 'node:querystring';
import { describeError, redactUrl } from '@podwire/errors';
import type { Dispatcher } from 'undici';
import type { Clock } from '../contract.js';
import { mostBytes } from '@podwire/apimachinery/documents';

export type ManifestAnswer =
  | { readonly kind: 'content'; readonly body: string; readonly etag?: string }
  /** 304: what is known is still so. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface ManifestRequest {
  readonly url: string;
  /** Names and values in turn, which is how one name may have several. */
  readonly headers: readonly string[];
  readonly etag?: string | undefined;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout: number;
  readonly dispatcher?: Dispatcher | undefined;
}

/** As Go's client, which kubelet uses. */
const mostRedirections = 10;

/** Takes user and password out of a URL. @throws TypeError for what is no http or https URL */
export function splitUrl(
  text: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
): { url: string; shown: string; headers: readonly string[] } {
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`no http or https URL: ${url.protocol}`);
  const { username, password } = url;
  const list = Object.entries(headers).flatMap(([key, values]) =>
    [values].flat().flatMap((value) => [key, value]),
  );
  // Not decodeURIComponent, which throws at a percent sign that stands for itself.
  const token = Buffer.from(`${unescape(username)}:${unescape(password)}`).toString('base64');
  const authorization = username === '' ? [] : ['authorization', `Basic ${token}`];
  const shown = redactUrl(url.href);
  return { url: shown, shown, headers: [...list, ...authorization] };
}

/** @throws only the signal's reason */
export async function fetchManifest(request: ManifestRequest, signal: AbortSignal): Promise<ManifestAnswer> {
  signal.throwIfAborted();
  let late: Error | undefined;
  const reason = (): Error => (late = new Error(`no whole answer within ${request.timeout / 1000} s`));
  try {
    const { clock, timeout } = request;
    return await withDeadline(signal, timeout, (either) => exchange(request, either), { clock, reason });
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', reason: describeError(late ?? error) };
  }
}

async function exchange(request: ManifestRequest, signal: AbortSignal): Promise<ManifestAnswer> {
  // Loaded by those who have a URL: `podwire up FILE` starts without it.
  const undici = await import('undici');
  const { url, headers, etag, dispatcher = undici.getGlobalDispatcher() } = request;
  const answer = await undici.request(url, {
    method: 'GET',
    headers: [...headers, ...(etag === undefined ? [] : ['if-none-match', etag])],
    dispatcher: dispatcher.compose(undici.interceptors.redirect({ maxRedirections: mostRedirections })),
    signal,
  });
  if (answer.statusCode === 304 && etag !== undefined) {
    await answer.body.dump();
    return { kind: 'unchanged' };
  }
  if (answer.statusCode !== 200) {
    // A body that is destroyed unread fails, and so the process without a listener.
    answer.body.on('error', () => undefined).destroy();
    return { kind: 'failed', reason: `answered with status ${answer.statusCode}` };
  }
  const body = await readBody(answer.body);
  const tag = answer.headers['etag'];
  return { kind: 'content', body, ...compact({ etag: typeof tag === 'string' ? tag : undefined }) };
}

/** Stops as soon as it is too much, whatever length was announced. */
async function readBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostBytes) throw new Error('the answer is larger than 10 MiB');
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error('the answer is no UTF-8 text');
  }
}
