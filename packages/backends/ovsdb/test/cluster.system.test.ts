/** A northbound database of three servers, of which the leader dies while rows are written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine, type Owned } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { until } from '@podwire/testkit';
import { readOvnSchema } from '@podwire/testkit/ovn';
import { OvsdbServer } from '@podwire/testkit/ovsdb';
import { createNorthboundBackend } from '../src/northbound/index.js';
import { addForeignRows, base, port } from './northbound-subject.js';

const call = () => ({ signal: AbortSignal.timeout(100_000) });

async function withCluster(work: (servers: readonly OvsdbServer[]) => Promise<void>): Promise<void> {
  const schema = readOvnSchema('nb');
  const first = new OvsdbServer({ schema, model: 'clustered' });
  const others = [1, 2].map(() => new OvsdbServer({ schema, model: 'clustered', join: first }));
  const servers = [first, ...others];
  try {
    for (const server of servers) await server.start();
    await work(servers);
  } finally {
    for (const server of servers) await server.close();
  }
}

const connect = (servers: readonly OvsdbServer[]): OvsdbClient =>
  new OvsdbClient({
    ...{ database: 'OVN_Northbound', endpoints: servers.map(({ endpoint }) => endpoint) },
    ...{ backoff: { first: 20, longest: 200 }, timeout: 60_000 },
  });

/** Routes have no index: a database would take one twice. */
const pods: readonly Owned[] = Array.from({ length: 60 }, (_, n) => ({
  owner: `pod:${n}`,
  resources: [
    { kind: 'port-group', name: `group${n}` },
    port(`pod${n}`, { groups: [`group${n}`] }),
    { kind: 'static-route', name: `pod${n}`, router: 'vpc', prefix: `10.16.0.${n}`, nextHop: '100.64.0.2' },
  ],
}));

/** How many rows a table has, with our mark and without. */
async function countRows(client: OvsdbClient): Promise<Record<string, readonly [number, number]>> {
  const tables = ['Logical_Switch_Port', 'Logical_Router_Static_Route', 'Port_Group'];
  const results = await client.transact(tables.map((table) => ({ op: 'select', table, where: [] }) as const));
  const isOurs = (row: object): boolean =>
    (row as { external_ids: Map<string, string> }).external_ids.has('podwire');
  return Object.fromEntries(
    results.map(({ rows }, index) => [
      tables[index]!,
      [rows.filter(isOurs).length, rows.filter((row) => !isOurs(row)).length],
    ]),
  );
}

/** Kills the leader, and starts the one that was killed before it. */
class LeaderKiller {
  readonly #servers: readonly OvsdbServer[];
  #dead: OvsdbServer | undefined;

  constructor(servers: readonly OvsdbServer[]) {
    this.#servers = servers;
  }

  async strike(): Promise<void> {
    await this.#dead?.start();
    this.#dead = await until('there is a leader', () => this.#findLeader());
    await this.#dead.kill();
  }

  async #findLeader(): Promise<OvsdbServer | undefined> {
    for (const server of this.#servers) if ((await server.role()) === 'leader') return server;
    return undefined;
  }
}

test('leaders that die while rows are written take no row with them, and double none', () =>
  withCluster(async (servers) => {
    const client = connect(servers);
    const other = connect(servers);
    const engine = createEngine({ backends: [createNorthboundBackend(client)] });
    const killer = new LeaderKiller(servers);
    try {
      await engine.apply(base, call());
      await addForeignRows(other);
      let done = 0;
      const waiting = pods.values();
      const applyMore = async (): Promise<void> => {
        for (const pod of waiting) {
          await engine.apply(pod, call());
          if (++done === 20 || done === 40) await killer.strike();
        }
      };
      await Promise.all(Array.from({ length: 4 }, applyMore));

      assert.deepEqual(await countRows(other), {
        Logical_Switch_Port: [60, 1],
        Logical_Router_Static_Route: [60, 1],
        Port_Group: [60, 0],
      });
      assert.deepEqual(await engine.reconcile([base, ...pods], call()), []);

      const removed = pods.map((pod) => engine.remove(pod, call()));
      await Promise.all([...removed, killer.strike()]);
      assert.deepEqual(await countRows(other), {
        Logical_Switch_Port: [0, 1],
        Logical_Router_Static_Route: [0, 1],
        Port_Group: [0, 0],
      });
    } finally {
      await engine.close();
      await other.close();
    }
  }));
