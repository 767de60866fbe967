/** Clients of the in-memory server: leaders, older servers, faults. */
import { silentLog } from '@podwire/platform';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { FakeServer, type FakeServerOptions } from '@podwire/ovsdb/fake';
import { afterEach, describe, expect, test } from 'vitest';
import { type CacheEvent, type ClientOptions, OvsdbClient, OvsdbError } from '../src/index.js';
import { insertParent } from './compliance/environment.js';
import { testSchema } from './compliance/index.js';

const clients: OvsdbClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function connect(options: Partial<ClientOptions> & Pick<ClientOptions, 'open'>): OvsdbClient {
  const client = new OvsdbClient({
    endpoints: ['memory'],
    database: 'Test',
    backoff: { first: 1, longest: 10 },
    ...options,
  });
  clients.push(client);
  return client;
}

const createServer = (options: Partial<FakeServerOptions> = {}): FakeServer =>
  new FakeServer({ schema: testSchema, model: 'clustered', ...options });

/** Servers by their endpoint. */
const openOf =
  (servers: { readonly [endpoint: string]: FakeServer }): NonNullable<ClientOptions['open']> =>
  (endpoint, signal) =>
    servers[endpoint]!.open(endpoint, signal);

const untilState = (client: OvsdbClient, endpoint: string): Promise<void> =>
  expect.poll(() => client.state).toEqual({ connected: true, endpoint });

const add = (client: OvsdbClient, name: string): Promise<unknown> => client.transact([insertParent(name)]);

function eventsOf(cache: { subscribe(listener: (event: CacheEvent) => void): unknown }): CacheEvent[] {
  const events: CacheEvent[] = [];
  cache.subscribe((event) => void events.push(event));
  return events;
}

describe('of a cluster', () => {
  const createCluster = (): { readonly [endpoint: string]: FakeServer } => {
    const servers = { one: createServer(), two: createServer() };
    servers.one.setLeader(false);
    return servers;
  };

  test('a client uses the leader, and moves when another one leads', async () => {
    const servers = createCluster();
    const client = connect({ endpoints: ['one', 'two'], open: openOf(servers) });
    await untilState(client, 'two');
    servers['one']!.setLeader(true);
    servers['two']!.setLeader(false);
    await untilState(client, 'one');
  });

  test('a client that does not ask for the leader uses the first server', async () => {
    const client = connect({ endpoints: ['one', 'two'], open: openOf(createCluster()), leaderOnly: false });
    await untilState(client, 'one');
  });

  test('a client says why no server is used', async () => {
    const server = createServer();
    server.setLeader(false);
    const client = connect({ open: server.open });
    const reason = (): string | undefined => (client.state.connected ? 'used' : client.state.reason?.message);
    await expect.poll(reason).toBe('memory is not used: it does not lead its cluster');
    await expect(client.schema({ timeout: 1 })).rejects.toMatchObject({
      code: 'NOT_SENT',
      message: expect.stringContaining('it does not lead its cluster') as string,
    });
  });
});

test('an older server, without monitor_cond_since and set_db_change_aware, is used without them', async () => {
  const server = createServer();
  server.forgetMethods('monitor_cond_since', 'set_db_change_aware');
  const client = connect({ open: server.open });
  const cache = await client.monitor({ Parent: {} });
  const events = eventsOf(cache);
  await add(client, 'a');
  expect(cache.rows('Parent').size).toBe(1);
  server.cut();
  await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['update', 'purged']);
  expect(events[1]?.changes).toEqual([]);
});

describe('after a fault', () => {
  test('a connection that is cut in the middle of a message loses nothing', async () => {
    const server = createServer();
    const client = connect({ open: server.open });
    const cache = await client.monitor({ Parent: {} });
    const events = eventsOf(cache);
    server.cutInMessage();
    server.transact({ op: 'insert', table: 'Parent', row: { name: 'meanwhile' } });
    await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['resumed']);
    expect(events[0]?.changes).toMatchObject([{ type: 'insert', after: { name: 'meanwhile' } }]);
  });

  test('a cache is purged when the server has forgotten the last transaction', async () => {
    const server = createServer();
    const client = connect({ open: server.open });
    await add(client, 'a');
    const cache = await client.monitor({ Parent: {} });
    const events = eventsOf(cache);
    server.stop();
    await expect.poll(() => cache.isCurrent).toBe(false);
    for (let count = 1; count <= 101; count++)
      server.transact({ op: 'update', table: 'Parent', where: [], row: { count } });
    server.start();
    await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['purged']);
    expect(events[0]?.changes).toMatchObject([
      { type: 'modify', before: { count: 0 }, after: { count: 101 } },
    ]);
  });

  test.each([
    ['changes a row that is not there', { modify: { count: 1 } }],
    ['deletes a row that is not there', { delete: null }],
    ['has a value of another type', { insert: { count: 'one' } }],
    ['has a column that the schema does not have', { insert: { nothing: 1 } }],
  ])('an update that %s ends the connection, and everything is read anew', async (_name, update) => {
    const server = createServer();
    const client = connect({ open: server.open });
    await add(client, 'a');
    const cache = await client.monitor({ Parent: {} });
    const events = eventsOf(cache);
    const uuid = '6f1c0c1e-4c4f-4a35-9f0e-0c5d3c0c7a11';
    const params = ['monitor-1', uuid, { Parent: { [uuid]: update } }];
    server.write(JSON.stringify({ id: null, method: 'update3', params }));
    await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['purged']);
    expect(events[0]?.changes).toEqual([]);
    expect(cache.rows('Parent').size).toBe(1);
  });

  test('a monitor that the server cancels begins anew', async () => {
    const server = createServer();
    const client = connect({ open: server.open });
    const events = eventsOf(await client.monitor({ Parent: {} }));
    server.write(JSON.stringify({ id: null, method: 'monitor_canceled', params: ['monitor-1'] }));
    await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['resumed']);
  });

  test('a database that is larger than the limit is not taken', async () => {
    const server = createServer();
    const client = connect({ open: server.open, limits: { bytes: 50_000 } });
    server.transact(
      ...Array.from({ length: 200 }, (_, index) => ({
        op: 'insert',
        table: 'Parent',
        row: { name: `parent-${index}`, note: 'x'.repeat(400) },
      })),
    );
    const reasons: (string | undefined)[] = [];
    client.subscribe((state) => void reasons.push(state.connected ? undefined : state.reason?.message));
    await expect(client.monitor({ Parent: {} }, { timeout: 100 })).rejects.toBeInstanceOf(OvsdbError);
    expect(reasons).toContain('a message is longer than 50000 bytes');
  });
});

describe('a database that gets another schema', () => {
  const { Single } = testSchema.tables;
  const other = {
    ...testSchema,
    tables: {
      ...testSchema.tables,
      Single: { ...Single, columns: { ...Single.columns, added: { type: 'string' } } },
    },
  };

  test('is followed with its new columns, although the last transaction is known', async () => {
    const server = createServer();
    const client = connect({ open: server.open });
    await client.transact([{ op: 'insert', table: 'Single', row: { value: 1 } }]);
    const cache = await client.monitor({ Single: {} });
    const events = eventsOf(cache);
    server.convert(other);
    await expect.poll(() => events.map(({ cause }) => cause)).toEqual(['purged']);
    expect([...cache.rows('Single').values()]).toMatchObject([{ value: 1, added: '' }]);
  });

  test('is written with its new columns by a client that follows nothing', async () => {
    const server = createServer();
    const client = connect({ open: server.open });
    await client.transact([{ op: 'insert', table: 'Single', row: { value: 1 } }]);
    server.convert(other);
    const hasColumn = async (): Promise<boolean> =>
      (await client.schema()).tables.get('Single')?.columns.has('added') === true;
    await expect.poll(hasColumn).toBe(true);
    await client.transact([{ op: 'update', table: 'Single', where: [], row: { added: 'x' } }]);
  });
});

test('listeners that fail are logged, and do no harm to others', async () => {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void errors.push(fields) };
  const server = createServer();
  const client = connect({ open: server.open, log });
  const fail = (): never => {
    throw new Error('a fault of the caller');
  };
  client.subscribe(fail);
  const cache = await client.monitor({ Parent: {} });
  cache.subscribe(fail);
  const events = eventsOf(cache);
  await add(client, 'a');
  expect(events).toHaveLength(1);
  server.cut();
  await expect.poll(() => cache.isCurrent && events.length).toBe(2);
  expect(errors.length).toBeGreaterThanOrEqual(3);
});

test('a cache that is closed while the server is away does not come back', async () => {
  const server = createServer();
  const client = connect({ open: server.open });
  const cache = await client.monitor({ Parent: {} });
  const events = eventsOf(cache);
  server.setSilent(true);
  const closed = cache.close();
  server.cut();
  await closed;
  server.setSilent(false);
  await add(client, 'a');
  expect([events, cache.rows('Parent').size]).toEqual([[], 0]);
});

describe('time', () => {
  interface Timed {
    readonly clock: TestClock;
    readonly server: FakeServer;
    readonly client: OvsdbClient;
    /** Times at which the client has tried to connect. */
    readonly attempts: readonly number[];
  }

  function createTimed(options: Partial<ClientOptions> = {}): Timed {
    const clock = createTestClock();
    const server = createServer({ clock });
    const attempts: number[] = [];
    const open: NonNullable<ClientOptions['open']> = (endpoint, signal) => {
      attempts.push(clock.elapsed());
      return server.open(endpoint, signal);
    };
    const backoff = { first: 100, longest: 800 };
    return {
      clock,
      server,
      attempts,
      client: connect({ clock, open, backoff, random: () => 0, ...options }),
    };
  }

  test('attempts to connect are further and further apart, and shortened at random', async () => {
    const { clock, server, attempts } = createTimed();
    server.stop();
    await clock.advance(3000);
    expect(attempts).toEqual([0, 100, 300, 700, 1500, 2300]);
    const other = createTimed({ random: () => 1 });
    other.server.stop();
    await other.clock.advance(600);
    expect(other.attempts).toEqual([0, 50, 150, 350]);
  });

  test('all servers are tried before a pause', async () => {
    const { clock, server, attempts } = createTimed({ endpoints: ['a', 'b', 'c'] });
    server.stop();
    await clock.advance(350);
    expect(attempts).toEqual([0, 0, 0, 100, 100, 100, 300, 300, 300]);
  });

  test('after a connection that lasted the pause is short again', async () => {
    const { clock, server, attempts } = createTimed();
    server.stop();
    await clock.advance(800);
    server.start();
    await clock.advance(5000);
    expect(attempts).toEqual([0, 100, 300, 700, 1500]);
    server.cut();
    await clock.advance(100);
    expect(attempts.at(-1)).toBe(5900);
  });

  test('a call to a silent server ends with its deadline, the connection with the probe', async () => {
    const { clock, server, client, attempts } = createTimed({ probeInterval: 5000, timeout: 60_000 });
    await clock.advance(10);
    server.setSilent(true);
    const short = expect(client.transact([insertParent('a')], { timeout: 1000 })).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    const long = expect(add(client, 'b')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('the server was silent for 10000 ms') as string,
    });
    await clock.advance(1000);
    await short;
    await clock.advance(10_000);
    await long;
    expect(attempts.length).toBeGreaterThan(1);
  });

  test('a server that does not answer at the beginning is left in time', async () => {
    const { clock, server, client } = createTimed({ probeInterval: 0, connectTimeout: 700 });
    server.setSilent(true);
    await clock.advance(750);
    expect(client.state).toMatchObject({ connected: false, reason: { code: 'OUTCOME_UNKNOWN' } });
    server.setSilent(false);
    await clock.advance(100);
    expect(client.state.connected).toBe(true);
  });

  test('a guard waits in the in-memory server as long as the clock says', async () => {
    const { clock, client } = createTimed({ probeInterval: 0 });
    await clock.advance(1);
    const wait = {
      op: 'wait',
      table: 'Parent',
      where: [],
      columns: ['name'],
      until: '!=',
      rows: [],
      timeout: 500,
    } as const;
    const failed = expect(client.transact([wait])).rejects.toMatchObject({ isGuardFailure: true });
    await clock.advance(500);
    await failed;
  });
});
