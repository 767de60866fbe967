import type { OutgoingHttpHeaders } from 'node:http2';
import net, { type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { bracketHost } from '@podwire/addresses';
import { compact, onAbort } from '@podwire/platform';
import type { ProbeAction } from '@podwire/pod-spec';
import { connect, hangUp, leaveEndToServer } from './connection.js';
import { readBody, readHead } from './http-answer.js';
import { requestOverHttp2 } from './http2.js';
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

async function requestOnce(url: URL, target: HttpTarget, signal: AbortSignal): Promise<Answer> {
  // Before anything is sent: what a manifest cannot ask for is found here.
  const headers = headersOf(url, target.action);
  const socket = await connect(hostOf(url), Number(url.port || defaultPorts[url.protocol]), signal);
  const unsubscribe = onAbort(signal, () => hangUp(socket));
  try {
    return await askOver(socket, { url, headers, brokenBody: target.brokenBody });
  } catch (error) {
    hangUp(socket);
    // A connection that was ended for it breaks off with errors of its own.
    signal.throwIfAborted();
    throw error;
  } finally {
    unsubscribe();
  }
}

async function askOver(socket: Socket, question: Question): Promise<Answer> {
  const { url } = question;
  if (url.protocol === 'http:') return askOverHttp1(socket, socket, question);
  const secured = await startTls(socket, hostOf(url));
  if (secured.alpnProtocol !== 'h2') return askOverHttp1(socket, secured, question);
  const answer = await askOverHttp2(secured, question);
  hangUp(socket);
  return answer;
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/**
 * TLS is loaded with the first probe that needs it. A name is told to the server, an address is not (RFC 6066, 3). A server may
 * speak HTTP/2 alone, as one of gRPC does.
 */
async function startTls(socket: Socket, host: string): Promise<TLSSocket> {
  const tls = await import('node:tls');
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const options = { socket, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'], ...servername };
  return new Promise((resolve, reject) => {
    const secured = tls.connect(options);
    socket.on('error', (error) => secured.destroy(error));
    secured.once('secureConnect', () => resolve(secured));
    secured.once('error', reject);
    secured.once('close', () =>
      reject(new Error('the server has ended the connection before TLS was set up')),
    );
  });
}

interface Question {
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly brokenBody: HttpTarget['brokenBody'];
}

async function askOverHttp1(socket: Socket, stream: Socket, question: Question): Promise<Answer> {
  const { url, headers } = question;
  const bytes = readBytes(stream);
  stream.write(formatRequest(url, headers));
  const head = await readHead(bytes);
  const answer = await finish(head.status, head.headers.get('location')?.[0], question, () =>
    readBody(bytes, head, mostBodyBytes),
  );
  leaveEndToServer(socket, stream);
  return answer;
}

function askOverHttp2(stream: Socket, question: Question): Promise<Answer> {
  const { url, headers } = question;
  const request = { authority: url.origin, headers: formatHeaders(url, headers) };
  return requestOverHttp2(stream, request, (answer) =>
    finish(answer.headers[':status'] ?? 0, answer.headers.location, question, () =>
      answer.readBody(mostBodyBytes),
    ),
  );
}

/** The body of a redirect that is followed is not looked at. */
async function finish(
  status: number,
  location: string | undefined,
  { url, brokenBody }: Question,
  read: () => Promise<unknown>,
): Promise<Answer> {
  const next = redirectOf(status, location, url);
  if (next?.hostname !== url.hostname) {
    await read().catch((error: unknown) => {
      if (brokenBody === 'fails') throw error;
    });
  }
  return { status, ...compact({ next }) };
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];

function redirectOf(status: number, location: string | undefined, base: URL): URL | undefined {
  if (!redirects.includes(status) || location === undefined || location === '') return undefined;
  if (!URL.canParse(location, base.href))
    throw new Error(`a redirect to no address: ${location.slice(0, 80)}`);
  const url = new URL(location, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

function formatRequest(url: URL, headers: readonly Header[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

type Header = readonly [name: string, value: string];

/** Small letters; the connection's own headers have no place in HTTP/2 (RFC 9113, 8.2.2). */
function formatHeaders(url: URL, headers: readonly Header[]): OutgoingHttpHeaders {
  const formatted = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    formatted.set(key, [...(formatted.get(key) ?? []), value]);
  }
  const [authority = url.host] = formatted.get('host') ?? [];
  const own = [...formatted].filter(([name]) => name !== 'host' && !ofConnections.includes(name));
  return {
    ':method': 'GET',
    ':path': `${url.pathname}${url.search}`,
    ':authority': authority,
    ...Object.fromEntries(own),
  };
}

const ofConnections = ['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'];

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
