/** A registry (OCI distribution, version 2) with one image of one layer, behind basic authentication. */
import crypto from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { bind, socket } from '@podwire/linux';
import { writeTar } from '@podwire/testkit/containerd';
import type { PrivateHost } from '@podwire/testkit';

export interface Registry {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  /** Users of the requests, in their order; `-` for anonymous. */
  readonly users: string[];
  /** While set, manifests never come. */
  stalled: boolean;
  close(): Promise<void>;
}

const digestOf = (data: Buffer): string => `sha256:${crypto.createHash('sha256').update(data).digest('hex')}`;

interface Blob {
  readonly type: string;
  readonly data: Buffer;
}

function buildImage(): { manifest: Blob; blobs: Map<string, Blob> } {
  const layer = writeTar([{ name: 'hello', content: Buffer.from('world\n'), mode: 0o644 }]);
  const packed = zlib.gzipSync(layer);
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Cmd: ['/hello'], User: '1234' },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  );
  const types = 'application/vnd.docker.distribution.manifest.v2+json';
  const configType = 'application/vnd.docker.container.image.v1+json';
  const layerType = 'application/vnd.docker.image.rootfs.diff.tar.gzip';
  const describe = ({ type, data }: Blob): object => ({
    mediaType: type,
    size: data.length,
    digest: digestOf(data),
  });
  const configBlob = { type: configType, data: config };
  const layerBlob = { type: layerType, data: packed };
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: types,
    config: describe(configBlob),
    layers: [describe(layerBlob)],
  });
  const manifest = { type: types, data: Buffer.from(text) };
  const blobs = new Map([configBlob, layerBlob, manifest].map((blob) => [digestOf(blob.data), blob]));
  return { manifest, blobs };
}

/** @param user the only one who may pull, as `NAME:PASSWORD`; all users when absent */
export async function startRegistry(host: PrivateHost, user?: string): Promise<Registry> {
  const { manifest, blobs } = buildImage();
  const registry = { address: '', users: [] as string[], stalled: false, close: () => Promise.resolve() };
  const server = http.createServer((request, response) => {
    const given = Buffer.from(
      (request.headers.authorization ?? '').replace(/^Basic /, ''),
      'base64',
    ).toString();
    const [, kind = '', reference = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? '') ?? [];
    note(registry.users, given);
    if (user !== undefined && given !== user) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' });
      return response.end('{"errors":[{"code":"UNAUTHORIZED","message":"not you"}]}');
    }
    if (kind === '') return response.writeHead(200).end('{}');
    const blob = kind === 'manifests' ? (blobs.get(reference) ?? manifest) : blobs.get(reference);
    if (blob === undefined) return response.writeHead(404).end('{}');
    if (registry.stalled && kind === 'manifests') return undefined;
    const headers = { 'content-type': blob.type, 'docker-content-digest': digestOf(blob.data) };
    response.writeHead(200, { ...headers, 'content-length': blob.data.length });
    return response.end(request.method === 'HEAD' ? undefined : blob.data);
  });
  // Node listens in a later turn, and must be in the host's namespace then: the descriptor is made there.
  await listenInside(host, server);
  registry.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  registry.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  host.defer(() => registry.close());
  return registry;
}

function note(users: string[], given: string): void {
  const name = given === '' ? '-' : (given.split(':')[0] ?? '');
  if (users.at(-1) !== name) users.push(name);
}

const AF_INET = 2;
const SOCK_STREAM = 1;

async function listenInside(host: PrivateHost, server: http.Server): Promise<void> {
  // struct sockaddr_in: any free port of 127.0.0.1.
  const address = Buffer.from([AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  const fd = host.namespace.inside(() => {
    const made = socket(AF_INET, SOCK_STREAM, 0);
    bind(made, address);
    return made;
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject);
  });
  server.listen({ fd });
  await listening;
}
