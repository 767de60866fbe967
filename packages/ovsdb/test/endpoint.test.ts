import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { createAuthority } from '@podwire/testkit/etcd';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseEndpoint } from '../src/rpc/endpoint.js';
import { openStream, type TlsOptions } from '../src/rpc/open-stream.js';

describe('an endpoint', () => {
  test.each([
    ['unix:/run/openvswitch/db.sock', { kind: 'unix', path: '/run/openvswitch/db.sock' }],
    ['tcp:127.0.0.1:6641', { kind: 'tcp', host: '127.0.0.1', port: 6641 }],
    ['tcp:ovn.test', { kind: 'tcp', host: 'ovn.test', port: 6640 }],
    ['ssl:[fd00::1]:6642', { kind: 'ssl', host: 'fd00::1', port: 6642 }],
  ])('%s is read', (text, endpoint) => {
    expect(parseEndpoint(text)).toEqual(endpoint);
  });

  test.each(['', '/run/db.sock', 'unix:', 'tcp:', 'tcp:a:0', 'tcp:a:70000', 'ptcp:6640', 'tcp:fd00::1:1'])(
    '%j is refused',
    (text) => {
      expect(() => parseEndpoint(text)).toThrow(/is no endpoint/);
    },
  );
});

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-ovsdb-'));
const read = (file: string): string => fs.readFileSync(file, 'utf8');
const servers: net.Server[] = [];
let trusted: TlsOptions;
let address: { readonly unix: string; readonly tcp: string; readonly ssl: string };

const greet = (socket: net.Socket): void => void socket.on('error', () => socket.destroy()).end('hello');
async function listen(server: net.Server, where?: string): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) =>
    where === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(where, resolve),
  );
  return where === undefined ? (server.address() as net.AddressInfo).port : 0;
}

beforeAll(async () => {
  const authority = await createAuthority(directory);
  const client = await authority.issue({ name: 'client' });
  const own = await authority.issue({ name: 'server', alternativeNames: ['DNS:ovn.test'] });
  const options = {
    key: read(own.key),
    cert: read(own.certificate),
    ca: read(authority.ca),
    requestCert: true,
  };
  trusted = { ca: read(authority.ca), certificate: read(client.certificate), key: read(client.key) };
  await listen(net.createServer(greet), path.join(directory, 'sock'));
  const tcp = await listen(net.createServer(greet));
  const ssl = await listen(tls.createServer(options, greet));
  address = { unix: `unix:${directory}/sock`, tcp: `tcp:127.0.0.1:${tcp}`, ssl: `ssl:127.0.0.1:${ssl}` };
});

afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  fs.rmSync(directory, { recursive: true });
});

async function hear(text: string, options: TlsOptions = trusted): Promise<string> {
  const stream = await openStream(text, { tls: options, signal: new AbortController().signal });
  let heard = '';
  for await (const chunk of stream) heard += String(chunk);
  return heard;
}

describe('a stream', () => {
  test('opens over a unix socket, TCP and TLS', async () => {
    expect(await hear(address.unix)).toBe('hello');
    expect(await hear(address.tcp)).toBe('hello');
    expect(await hear(address.ssl, { ...trusted, verifyHost: false })).toBe('hello');
  });

  test('over TLS is refused when the certificate is of another host', async () => {
    await expect(hear(address.ssl)).rejects.toMatchObject({ code: 'NOT_SENT' });
  });

  test('over TLS is refused when the authority is unknown, also without a check of the host', async () => {
    const { ca: _ca, ...unknown } = trusted;
    await expect(hear(address.ssl, { ...unknown, verifyHost: false })).rejects.toMatchObject({
      code: 'NOT_SENT',
    });
  });

  test('to a server that is not there was not sent anything', async () => {
    await expect(hear(`unix:${directory}/none`)).rejects.toMatchObject({
      code: 'NOT_SENT',
      message: expect.stringContaining('ENOENT') as string,
    });
  });

  test('ends with the signal', async () => {
    const server = net.createServer((socket) => void socket.on('error', () => socket.destroy()));
    const port = await listen(server);
    const controller = new AbortController();
    const opened = openStream(`ssl:127.0.0.1:${port}`, { signal: controller.signal });
    server.once('connection', () => controller.abort(new Error('enough')));
    await expect(opened).rejects.toMatchObject({ code: 'NOT_SENT', cause: { message: 'enough' } });
  });
});
