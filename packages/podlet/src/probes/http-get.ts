import net, { type Socket } from 'node:net';
import { bracketHost } from '@podwire/addresses';
import { compact, onAbort } from '@podwire/platform';
import type { ProbeAction } from '@podwire/pod-spec';
import { readBody, readHead } from './http-answer.js';
import { readBytes } from './socket-bytes.js';

export type HttpGet = NonNullable<ProbeAction['httpGet']>;

export interface HttpTarget {
  readonly action: HttpGet;
  /** The pod's address; `action.host` has precedence. */
  readonly address: string;
  readonly port: number;
  /** The meaning of a body that breaks off: nothing for a hook, which has run by then. */
  readonly brokenBody: 'fails' | 'counts';
}

export interface HttpAnswer {
  readonly status: number;
  /** The target of a redirect that was not followed, since it leaves the host. */
  readonly elsewhere?: string;
}

const mostRedirects = 10;
/** As the kubelet calls itself, with the version whose rules these are: applications and meshes look for the first word. */
export const agentName = 'kube-probe/1.20';
/** The kubelet looks at no more of a body (pkg/probe/http, maxRespBodyLength). */
const mostBodyBytes = 10 * 1024;

/**
 * Sends one GET on a connection of its own; certificates are not verified (Kubernetes API, HTTPGetAction). Redirects are
 * followed as long as they stay on the host: a pod must not make the node ask others.
 * @throws whatever kept the answer from coming
 */
export async function httpGet(target: HttpTarget, signal: AbortSignal): Promise<HttpAnswer> {
  let url = firstUrl(target);
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const { status, next } = await requestOnce(url, target, signal);
    if (next === undefined) return { status };
    if (next.hostname !== url.hostname) return { status, elsewhere: next.hostname };
    url = next;
  }
  throw new Error(`more than ${mostRedirects} redirects`);
}

/** The path may have a query; it is taken as it stands. */
function firstUrl({ action, address, port }: HttpTarget): URL {
  const host = action.host ?? address;
  const name = bracketHost(host);
  const path = action.path.startsWith('/') ? action.path : `/${action.path}`;
  return new URL(`${action.scheme.toLowerCase()}://${name}:${port}${path}`);
}

interface Answer {
  readonly status: number;
  /** Of a redirect. */
  readonly next?: URL;
}

async function requestOnce(
  url: URL,
  { action, brokenBody }: HttpTarget,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const request = formatRequest(url, action);
  const socket = await connect(url);
  const unsubscribe = onAbort(signal, (reason) => socket.destroy(reason));
  try {
    const bytes = readBytes(socket);
    socket.write(request);
    const head = await readHead(bytes);
    const next = redirectOf(head.status, head.headers.get('location')?.[0], url);
    const isFollowed = next?.hostname === url.hostname;
    if (!isFollowed) {
      await readBody(bytes, head, mostBodyBytes).catch((error: unknown) => {
        if (brokenBody === 'fails' || signal.aborted) throw error;
      });
    }
    return { status: head.status, ...compact({ next }) };
  } finally {
    unsubscribe();
    socket.destroy();
  }
}

/** TLS is loaded with the first probe that needs it. A name is told to the server, an address is not (RFC 6066, 3). */
async function connect(url: URL): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'http:') return net.connect({ host, port: Number(url.port || 80) });
  const tls = await import('node:tls');
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  return tls.connect({ host, port: Number(url.port || 443), rejectUnauthorized: false, ...servername });
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];

function redirectOf(status: number, location: string | undefined, base: URL): URL | undefined {
  if (!redirects.includes(status) || location === undefined || location === '') return undefined;
  if (!URL.canParse(location, base.href))
    throw new Error(`a redirect to no address: ${location.slice(0, 80)}`);
  const url = new URL(location, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

function formatRequest(url: URL, action: HttpGet): string {
  const lines = headersOf(url, action).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

type Header = readonly [name: string, value: string];

/** Headers of the message, not of the application: a manifest cannot set them, as with Go. */
const ours = /^(?:host|connection|content-length|transfer-encoding|trailer)$/i;

/** A name may come more than once. An empty value of these two means: none at all. */
function headersOf(url: URL, { httpHeaders }: HttpGet): Header[] {
  const given = new Set(httpHeaders.map(({ name }) => name.toLowerCase()));
  const usual: Header[] = [
    ['User-Agent', agentName],
    ['Accept', '*/*'],
  ];
  const own = httpHeaders
    .filter(({ name, value }) => !ours.test(name) && (value !== '' || !/^(user-agent|accept)$/i.test(name)))
    .map(({ name, value }): Header => [requireToken(name), requirePlain(name, value)]);
  const host = httpHeaders.find(({ name, value }) => name.toLowerCase() === 'host' && value !== '');
  return [
    ['Host', host === undefined ? url.host : requirePlain('Host', host.value)],
    ...usual.filter(([name]) => !given.has(name.toLowerCase())),
    ['Connection', 'close'],
    ...own,
  ];
}

function requireToken(name: string): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
    throw new Error(`no name of a header: ${JSON.stringify(name)}`);
  return name;
}

/** A line end in it would begin another header. */
function requirePlain(name: string, value: string): string {
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value))
    throw new Error(`no value of the header ${name}: ${JSON.stringify(value)}`);
  return value;
}
