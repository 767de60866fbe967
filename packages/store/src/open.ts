/** Which store, as configurations and command lines say it, and how it is opened. */
import { PodwireError, redactUrl } from '@podwire/errors';
import type { OpenOptions, Store, StoreSpec } from './contract.js';

/**
 * Opens the store; of the back ends, only the one that is asked for is loaded.
 * @throws PodwireError CONFIG_INVALID; STORE_UNAVAILABLE when an embedded one cannot be opened. Servers may be down: calls
 * fail then, and work again when they are back.
 */
export async function openStore(spec: StoreSpec, options: OpenOptions): Promise<Store> {
  switch (spec.kind) {
    case 'embedded':
      return (await import('./embedded/index.js')).openEmbeddedStore(spec.directory, options);
    case 'etcd':
      return (await import('./etcd/index.js')).openEtcdStore(spec, options);
    case 'consul':
      return (await import('./consul/index.js')).openConsulStore(spec, options);
  }
}

const defaultPorts = { etcd: 2379, consul: 8500 } as const;

/** URL schemes. */
const schemes = new Map([
  ['etcd', { kind: 'etcd', protocol: 'http' }],
  ['etcds', { kind: 'etcd', protocol: 'https' }],
  ['consul', { kind: 'consul', protocol: 'http' }],
  ['consuls', { kind: 'consul', protocol: 'https' }],
] as const);

/**
 * The short way to say it: `embedded:/DIRECTORY`, `etcd://HOST[:PORT],…` and `consul://…`; `etcds://…` and `consuls://…` over
 * TLS with the system's certificate authorities. Users, tokens and certificates are files, and need the long way.
 * @throws PodwireError CONFIG_INVALID naming the part that is wrong
 */
export function parseStoreUrl(text: string): StoreSpec {
  if (text.startsWith('embedded:')) return parseEmbedded(text, text.slice('embedded:'.length));
  const { name, hosts = '' } = /^(?<name>[a-z]+):\/\/(?<hosts>.*?)\/?$/.exec(text)?.groups ?? {};
  const scheme = schemes.get(name as 'etcd');
  // The part before it is not repeated: it may be a password.
  if (hosts.includes('@'))
    throw invalid(
      `${name}://…`,
      'users and passwords do not stand here; give a configuration with passwordFile or tokenFile',
    );
  if (scheme === undefined)
    throw invalid(text, 'it begins with none of embedded:, etcd://, etcds://, consul://, consuls://');
  const { kind, protocol } = scheme;
  const endpoints = hosts.split(',').map((host) => parseEndpoint(text, host, protocol, defaultPorts[kind]));
  return { kind, endpoints };
}

/** The name or address in an endpoint's URL, an IPv6 one without its brackets. */
export const hostOfEndpoint = (endpoint: string): string =>
  new URL(endpoint).hostname.replace(/^\[|\]$/g, '');

/** Endpoints without encryption over a network: a machine in between can read the password and change what nodes apply. */
export function plainEndpoints(spec: StoreSpec): string[] {
  const endpoints = 'endpoints' in spec ? spec.endpoints : [];
  return endpoints.filter((each) => new URL(each).protocol === 'http:' && !isLoopback(hostOfEndpoint(each)));
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);

function parseEmbedded(text: string, directory: string): StoreSpec {
  if (!directory.startsWith('/') || /^\/+$/.test(directory) || directory.includes('\0'))
    throw invalid(text, `directory ${JSON.stringify(directory)} is no absolute path of a directory`);
  return { kind: 'embedded', directory };
}

const endpointShape =
  /^(?<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(?<port>\d{1,5}))?$/;

function parseEndpoint(text: string, host: string, protocol: string, defaultPort: number): string {
  const { name, port = defaultPort } = endpointShape.exec(host)?.groups ?? {};
  const endpoint = `${protocol}://${name}:${port}`;
  if (name === undefined || Number(port) === 0 || !URL.canParse(endpoint))
    throw invalid(text, `endpoint ${JSON.stringify(host)} is no HOST or HOST:PORT`);
  return endpoint;
}

const invalid = (text: string, what: string): PodwireError =>
  new PodwireError('CONFIG_INVALID', `store ${JSON.stringify(redactUrl(text))}: ${what}`, {
    details: { field: 'store' },
  });
