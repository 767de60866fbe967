import type { Dispatcher } from 'undici';
import type { ProbeAction } from '../pod/pod.js';

export type HttpGet = NonNullable<ProbeAction['httpGet']>;

export interface HttpTarget {
  readonly action: HttpGet;
  /** Where the pod is; `action.host` has precedence. */
  readonly address: string;
  readonly port: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Where a redirect leads that was not followed, since it leaves the host. */
  readonly elsewhere?: string;
}

const mostRedirects = 10;
const agentName = 'podwire-probe/1';

/**
 * Sends one GET on a connection of its own; certificates are not verified (Kubernetes API, HTTPGetAction). Redirects are
 * followed as long as they stay on the host: a pod must not make the node ask others.
 * @throws whatever kept the answer from coming
 */
export async function httpGet(target: HttpTarget, signal: AbortSignal): Promise<HttpAnswer> {
  let url = firstUrl(target);
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const { status, location } = await requestOnce(url, target.action, signal);
    const next = status >= 300 && status < 400 && location !== undefined ? resolve(location, url) : undefined;
    if (next === undefined) return { status };
    if (next.hostname !== url.hostname) return { status, elsewhere: next.hostname };
    url = next;
  }
  throw new Error(`more than ${mostRedirects} redirects`);
}

/** The path may have a query; it is taken as it stands. */
function firstUrl({ action, address, port }: HttpTarget): URL {
  const host = action.host ?? address;
  const name = host.includes(':') ? `[${host}]` : host;
  const path = action.path.startsWith('/') ? action.path : `/${action.path}`;
  return new URL(`${action.scheme.toLowerCase()}://${name}:${port}${path}`);
}

function resolve(location: string, base: URL): URL | undefined {
  if (!URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

interface Answer {
  readonly status: number;
  readonly location?: string;
}

/** undici is loaded with the first probe that needs it: it costs 50 ms of the start. */
async function requestOnce(url: URL, action: HttpGet, signal: AbortSignal): Promise<Answer> {
  const { Client } = await import('undici');
  const client = new Client(url.origin, { connect: { rejectUnauthorized: false }, pipelining: 1 });
  try {
    const answer = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: headersOf(action),
      reset: true,
      signal,
    });
    discard(answer.body);
    return { status: answer.statusCode, ...locationOf(answer.headers) };
  } finally {
    await client.destroy();
  }
}

/** Only the status counts. Without a listener, cutting the body off would end the process. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined);
  body.destroy();
}

function locationOf({ location }: Dispatcher.ResponseData['headers']): Pick<Answer, 'location'> {
  return typeof location === 'string' ? { location } : {};
}

/** As a flat list, since a name may come more than once. An empty value of these two means: none at all. */
function headersOf({ httpHeaders }: HttpGet): string[] {
  const given = new Set(httpHeaders.map(({ name }) => name.toLowerCase()));
  const usual = [
    ['user-agent', agentName],
    ['accept', '*/*'],
  ].filter(([name]) => !given.has(name!));
  const own = httpHeaders.filter(({ name, value }) => value !== '' || !/^(user-agent|accept)$/i.test(name));
  return [...usual.flat(), ...own.flatMap(({ name, value }) => [name, value])];
}
