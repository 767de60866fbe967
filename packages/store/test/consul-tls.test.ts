import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import type { TlsFiles } from '@podwire/store';
import { openConsulStore } from '@podwire/store/consul';
import { Consul, type ConsulServer, serveConsul } from '@podwire/testkit/consul';
import { type Certificate, createAuthority } from '@podwire/testkit/etcd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClock } from '@podwire/platform/testing';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-consul-tls-'));
let ca: string;
let client: Certificate;
let consul: Consul;
let server: ConsulServer;

beforeAll(async () => {
  const authority = await createAuthority(directory);
  ca = authority.ca;
  client = await authority.issue({ name: 'client' });
  const own = await authority.issue({ name: 'server', alternativeNames: ['DNS:consul.test'] });
  const read = (file: string) => fs.readFileSync(file, 'utf8');
  consul = new Consul({ clock: createTestClock() });
  server = await serveConsul(consul, {
    tls: { key: read(own.key), cert: read(own.certificate), ca: read(ca) },
  });
});

afterAll(async () => {
  consul.stop();
  await server.close();
  fs.rmSync(directory, { recursive: true });
});

async function write(tls: TlsFiles): Promise<void> {
  const store = openConsulStore(
    { kind: 'consul', endpoints: [server.url], tls },
    { log: silentLog, clock: systemClock },
  );
  try {
    await store.put('/a', '1');
    expect((await store.get('/a'))?.value).toBe('1');
  } finally {
    await store.close();
  }
}

describe('Consul over TLS', () => {
  it('is asked with the authority, the name and the certificate that are configured', async () => {
    await write({ ca, serverName: 'consul.test', ...client });
  });

  it.each([
    ['of another name', () => ({ ca, ...client })],
    ['of an unknown authority', () => ({ serverName: 'consul.test', ...client })],
  ])('is not trusted when it is %s', async (_, tls) => {
    await expect(write(tls())).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      details: { uncertain: false },
    });
  });

  it('does not answer who has no certificate', async () => {
    await expect(write({ ca, serverName: 'consul.test' })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });

  it('is not asked when a file is missing', () => {
    expect(() =>
      openConsulStore(
        { kind: 'consul', endpoints: [server.url], tls: { ca: path.join(directory, 'none') } },
        { log: silentLog, clock: systemClock },
      ),
    ).toThrow(expect.objectContaining({ code: 'STORE_DENIED' }) as Error);
  });
});
