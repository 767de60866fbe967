/** ovsdb-server over TCP and TLS, with another schema while it runs, and beside ovs-vsctl. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type CacheEvent, OvsdbClient } from '@podwire/ovsdb';
import { run } from '@podwire/testkit';
import { createAuthority } from '@podwire/testkit/etcd';
import { OvsdbServer, type OvsdbServerOptions } from '@podwire/testkit/ovsdb';
import { addPort, openSwitch, untilConnected } from '../examples/ports.js';
import { testSchema } from './compliance/index.js';

const switchSchema = '/usr/share/openvswitch/vswitch.ovsschema';

async function withServer(
  options: Partial<OvsdbServerOptions>,
  work: (server: OvsdbServer) => Promise<void>,
): Promise<void> {
  const server = new OvsdbServer({ schema: testSchema, model: 'standalone', ...options });
  try {
    await server.start();
    await work(server);
  } finally {
    await server.close();
  }
}

async function withClient(
  options: Omit<ConstructorParameters<typeof OvsdbClient>[0], 'database'>,
  work: (client: OvsdbClient) => Promise<void>,
): Promise<void> {
  const client = new OvsdbClient({ database: 'Test', backoff: { first: 5, longest: 50 }, ...options });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

const insert = { op: 'insert', table: 'Single', row: { value: 1 } } as const;

describe('ovsdb-server', () => {
  test('is used over TCP', () =>
    withServer({ flags: ['--remote=ptcp:0:127.0.0.1'] }, async (server) => {
      const endpoints = [`tcp:127.0.0.1:${await server.port()}`];
      await withClient({ endpoints }, async (client) => void (await client.transact([insert])));
    }));

  test('is used over TLS, which both sides check', async () => {
    const directory = fs.mkdtempSync('/tmp/pwt-ovsdb-tls-');
    const authority = await createAuthority(directory);
    const own = await authority.issue({ name: 'server', alternativeNames: ['IP:127.0.0.1'] });
    const client = await authority.issue({ name: 'client' });
    const read = (file: string): string => fs.readFileSync(file, 'utf8');
    const flags = [
      '--remote=pssl:0:127.0.0.1',
      `--private-key=${own.key}`,
      `--certificate=${own.certificate}`,
      `--ca-cert=${authority.ca}`,
    ];
    const tls = { ca: read(authority.ca), certificate: read(client.certificate), key: read(client.key) };
    await withServer({ flags }, async (server) => {
      const endpoints = [`ssl:127.0.0.1:${await server.port()}`];
      await withClient({ endpoints, tls }, async (each) => void (await each.transact([insert])));
      await withClient({ endpoints, tls: { ca: tls.ca }, timeout: 500 }, async (each) => {
        await assert.rejects(each.transact([insert]), { code: 'NOT_SENT' });
      });
    });
    fs.rmSync(directory, { recursive: true });
  });

  for (const model of ['standalone', 'clustered'] as const)
    test(`may get another schema, ${model}: a cache goes on with the new columns`, () =>
      withServer({ model }, (server) =>
        withClient({ endpoints: [server.endpoint] }, async (client) => {
          await client.transact([insert]);
          const cache = await client.monitor({ Single: {} });
          const causes: string[] = [];
          cache.subscribe(({ cause }: CacheEvent) => void causes.push(cause));
          const columns = { ...testSchema.tables.Single.columns, added: { type: 'string' } };
          const tables = { ...testSchema.tables, Single: { ...testSchema.tables.Single, columns } };
          const file = path.join(server.directory, 'other.schema');
          fs.writeFileSync(file, JSON.stringify({ ...testSchema, version: '2.0.0', tables }));
          await run(['ovsdb-client', 'convert', server.endpoint, file]);
          await cache.until(({ isCurrent }) => isCurrent && causes.includes('purged'));
          const [row] = cache.rows('Single').values();
          assert.deepEqual([row?.['value'], row?.['added']], [1, '']);
          await client.transact([{ op: 'update', table: 'Single', where: [], row: { added: 'x' } }]);
          assert.equal([...cache.rows('Single').values()][0]?.['added'], 'x');
        }),
      ));

  test('has a new leader in its cluster: a client moves to it, and a cache goes on', () => {
    const found = (work: (server: OvsdbServer) => Promise<void>): Promise<void> =>
      withServer({ model: 'clustered' }, work);
    const join = (first: OvsdbServer, work: (server: OvsdbServer) => Promise<void>): Promise<void> =>
      withServer({ model: 'clustered', join: first }, work);
    return found((one) =>
      join(one, (two) =>
        join(one, async (three) => {
          const servers = [three, two, one];
          const endpoints = servers.map(({ endpoint }) => endpoint);
          await withClient({ endpoints }, (client) => loseLeader(client, servers));
        }),
      ),
    );
  });

  test('with the schema of Open vSwitch takes the ports of the example, and ovs-vsctl has the same view', () =>
    withServer({ schema: JSON.parse(fs.readFileSync(switchSchema, 'utf8')) }, async (server) => {
      const vsctl = (...words: readonly string[]): Promise<string> =>
        run(['ovs-vsctl', '--no-wait', `--db=${server.endpoint}`, ...words]);
      await vsctl('init');
      await vsctl('add-br', 'br0');
      const client = openSwitch(server.endpoint);
      try {
        await addPort(client, 'br0', 'web0', 5);
        await assert.rejects(addPort(client, 'br0', 'web0'), { isGuardFailure: true });
        assert.equal(await vsctl('list-ports', 'br0'), 'web0\n');
        assert.equal(await vsctl('get', 'Port', 'web0', 'tag'), '5\n');
        const connected = untilConnected(client, 'web0', AbortSignal.timeout(20_000));
        await vsctl('set', 'Interface', 'web0', 'ofport=7');
        assert.equal(await connected, 7);
      } finally {
        await client.close();
      }
    }));
});

/** The server that the client uses: it must lead. */
async function leaderOf(client: OvsdbClient, servers: readonly OvsdbServer[]): Promise<OvsdbServer> {
  const { state } = client;
  const used = servers.find(({ endpoint }) => state.connected && state.endpoint === endpoint);
  assert.equal(await used?.role(), 'leader');
  return used ?? assert.fail('the client is not connected');
}

async function loseLeader(client: OvsdbClient, servers: readonly OvsdbServer[]): Promise<void> {
  const add = (a: number): Promise<unknown> =>
    client.transact([{ op: 'insert', table: 'Pair', row: { a } }], { timeout: 40_000 });
  await add(1);
  const cache = await client.monitor({ Pair: {} });
  const causes: string[] = [];
  cache.subscribe(({ cause }: CacheEvent) => void causes.push(cause));
  const first = await leaderOf(client, servers);
  await first.kill();
  await add(2);
  await cache.until((own) => own.isCurrent && own.rows('Pair').size === 2);
  assert.ok(causes.includes('resumed') && !causes.includes('purged'), causes.join());
  assert.notEqual(await leaderOf(client, servers), first);
}
