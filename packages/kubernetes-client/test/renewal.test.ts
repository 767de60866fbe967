/** Credentials that others renew, against a server that asks for a certificate. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KubernetesClient } from '../src/client.js';
import { loadKubeconfig } from '../src/kubeconfig.js';
import { FakeApiServer } from '../src/testing/fake-api-server.js';

const live = new AbortController().signal;

/** A directory with an authority of its own, and files of those that it has signed. */
class Authority {
  readonly directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-renewal-'));

  constructor() {
    onTestFinished(() => fs.rmSync(this.directory, { recursive: true }));
    this.#run(
      'req',
      '-x509',
      ...curve,
      '-subj',
      '/CN=authority',
      '-keyout',
      this.at('ca.key'),
      '-out',
      this.at('ca.crt'),
    );
  }

  at(name: string): string {
    return path.join(this.directory, name);
  }

  /** Makes `NAME.key` and `NAME.crt`, perhaps in place of others. */
  sign(name: string, subject: string): { readonly key: string; readonly cert: string } {
    const [key, request, cert] = [this.at(`${name}.key`), this.at(`${name}.csr`), this.at(`${name}.crt`)];
    fs.writeFileSync(this.at('names'), 'subjectAltName=IP:127.0.0.1');
    this.#run('req', '-new', ...curve, '-subj', `/CN=${subject}`, '-keyout', key, '-out', request);
    const by = ['-CA', this.at('ca.crt'), '-CAkey', this.at('ca.key'), '-CAcreateserial'];
    this.#run(
      'x509',
      '-req',
      '-in',
      request,
      ...by,
      '-days',
      '1',
      '-extfile',
      this.at('names'),
      '-out',
      cert,
    );
    return { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(cert, 'utf8') };
  }

  #run(...words: readonly string[]): void {
    execFileSync('openssl', words, { stdio: 'ignore' });
  }
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Says who asks; a watch stays open. */
async function serve(authority: Authority) {
  const open = new Set<string>();
  const server = https.createServer({
    ...authority.sign('server', 'server'),
    ca: fs.readFileSync(authority.at('ca.crt')),
    requestCert: true,
    rejectUnauthorized: true,
  });
  const nameOf = (socket: unknown): string => String((socket as TLSSocket).getPeerCertificate().subject.CN);
  server.on('secureConnection', (socket) => {
    const id = `${nameOf(socket)} ${socket.remotePort}`;
    open.add(id);
    socket.on('error', () => undefined).once('close', () => open.delete(id));
  });
  server.on('request', ({ url, socket }, response) => {
    if (url?.includes('watch=1')) response.write(`{"name":"${nameOf(socket)}"}\n`);
    else response.end(JSON.stringify({ name: nameOf(socket) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const names = (): string[] => [...new Set([...open].map((id) => id.split(' ')[0]!))];
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, names };
}

function writeKubeconfig(authority: Authority, server: string, user: object): string {
  const file = authority.at('kubeconfig');
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user }],
  };
  fs.writeFileSync(file, JSON.stringify(config));
  return file;
}

async function open(file: string, troubles: string[] = []): Promise<KubernetesClient> {
  const client = new KubernetesClient(await loadKubeconfig(file), {
    renewEvery: 10,
    onTrouble: (message) => troubles.push(message),
  });
  onTestFinished(() => client.close());
  return client;
}

const askName = async (client: KubernetesClient): Promise<string> =>
  (await client.request<{ name: string }>('GET', '/api', { signal: live })).name;

const byFiles = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };

describe('a client certificate that is renewed in place', () => {
  it('is used from then on, and the connections with the old one are closed', async () => {
    const authority = new Authority();
    const { url, names } = await serve(authority);
    authority.sign('client', 'first');
    const client = await open(writeKubeconfig(authority, url, byFiles));
    expect(await askName(client)).toBe('first');
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { name } of client.watch<{ name: string }>('/api', {
        signal: live,
        query: { watch: 1 },
      }))
        seen.push(name);
    })();
    await expect.poll(() => seen).toEqual(['first']);
    authority.sign('client', 'second');
    await expect.poll(() => askName(client)).toBe('second');
    // It ends as if the server had ended it, so that the next one begins at once.
    await watching;
    await expect.poll(names).toEqual(['second']);
  });

  it('waits while the key is not there yet, which is said once', async () => {
    const authority = new Authority();
    const { url } = await serve(authority);
    authority.sign('client', 'first');
    const troubles: string[] = [];
    const client = await open(writeKubeconfig(authority, url, byFiles), troubles);
    const { key, cert } = authority.sign('next', 'second');
    fs.writeFileSync(authority.at('client.crt'), cert);
    await expect.poll(() => troubles.length).toBe(1);
    expect(troubles[0]).toMatch(/^credentials cannot be renewed: .*key values mismatch/);
    expect(await askName(client)).toBe('first');
    fs.writeFileSync(authority.at('client.key'), key);
    await expect.poll(() => askName(client)).toBe('second');
    expect(troubles).toHaveLength(1);
  });
});

describe('a token', () => {
  it('that changes in the kubeconfig is used from then on', async () => {
    const server = new FakeApiServer();
    onTestFinished(() => server.close());
    const authority = new Authority();
    const url = await server.start();
    const client = await open(writeKubeconfig(authority, url, { token: 'old' }));
    const tokens = async (): Promise<unknown> => {
      await client.request('GET', '/api/v1/pods', { signal: live });
      return server.asked.at(-1)!.authorization;
    };
    expect(await tokens()).toBe('Bearer old');
    writeKubeconfig(authority, url, { token: 'new' });
    await expect.poll(tokens).toBe('Bearer new');
  });
});

describe('a program that answers for the user', () => {
  const printing = (authority: Authority, text: string): object => {
    fs.writeFileSync(authority.at('answer'), text);
    return { exec: { command: '/bin/cat', args: [authority.at('answer')] } };
  };

  it('may answer with a certificate, which is used until it expires', async () => {
    const authority = new Authority();
    const { url } = await serve(authority);
    const answer = (name: string, expirationTimestamp: string): string => {
      const { key, cert } = authority.sign(name, name);
      return JSON.stringify({
        status: { clientCertificateData: cert, clientKeyData: key, expirationTimestamp },
      });
    };
    // Its last minute has begun, so that the next look asks again.
    const soon = new Date(Date.now() + 30_000).toISOString();
    const client = await open(writeKubeconfig(authority, url, printing(authority, answer('one', soon))));
    expect(await askName(client)).toBe('one');
    printing(authority, answer('two', '2999-01-01T00:00:00Z'));
    await expect.poll(() => askName(client)).toBe('two');
    printing(authority, answer('three', '2999-01-01T00:00:00Z'));
    await expect.poll(() => askName(client)).toBe('two');
  });

  it('may fail for a moment: the certificate from before stays', async () => {
    const authority = new Authority();
    const { url } = await serve(authority);
    const { key, cert } = authority.sign('one', 'one');
    const status = { clientCertificateData: cert, clientKeyData: key };
    const expirationTimestamp = new Date(Date.now() + 30_000).toISOString();
    const answer = JSON.stringify({ status: { ...status, expirationTimestamp } });
    const troubles: string[] = [];
    const client = await open(writeKubeconfig(authority, url, printing(authority, answer)), troubles);
    expect(await askName(client)).toBe('one');
    printing(authority, 'nothing');
    await expect.poll(() => troubles).toHaveLength(1);
    printing(authority, answer);
    expect(await askName(client)).toBe('one');
  });

  it.each([
    ['{}', /cat has printed no credential: status: /],
    ['no JSON', /cat has printed no credential: [A-Z]/],
    ['{"status":{}}', /cat has printed no credential: status: has neither token nor clientCertificateData$/],
    ['{"status":{"token":7}}', /cat has printed no credential: status\.token: /],
    ['{"status":{"clientCertificateData":"x"}}', /clientCertificateData and clientKeyData belong together$/],
  ])('is named with what is wrong in one sentence when it prints %s', async (text, message) => {
    const authority = new Authority();
    const access = await loadKubeconfig(
      writeKubeconfig(authority, 'https://127.0.0.1:1', printing(authority, text)),
    );
    const failed = access.token!(live);
    await expect(failed).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(failed).rejects.toThrow(message);
  });

  it('is named when it cannot be run', async () => {
    const authority = new Authority();
    const exec = { command: '/nowhere/program' };
    const access = await loadKubeconfig(writeKubeconfig(authority, 'https://127.0.0.1:1', { exec }));
    await expect(access.token!(live)).rejects.toThrow(/the program \/nowhere\/program failed: .*ENOENT/);
  });
});
