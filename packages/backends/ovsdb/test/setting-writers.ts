/** Other programs that write settings of the switch, and several that write at one time. */
import { createEngine, type Resource } from '@podwire/engine';
import { type OvsdbClient, TransactionError } from '@podwire/ovsdb';
import { createSwitchBackend } from '../src/index.js';

const table = 'Open_vSwitch';
const LIST = 'ovn-chassis-mac-mappings';
const call = () => ({ signal: AbortSignal.timeout(60_000) });

export async function readPairs(client: OvsdbClient): Promise<ReadonlyMap<string, string>> {
  const [{ rows }] = await client.transact([{ op: 'select', table, where: [], columns: ['external_ids'] }]);
  return rows[0]!['external_ids'] as ReadonlyMap<string, string>;
}

/** As `ovs-vsctl set Open_vSwitch . external-ids:KEY=VALUE` does it. */
export const setPair = (client: OvsdbClient, key: string, value: string): Promise<unknown> =>
  client.transact([
    {
      ...{ op: 'mutate', table, where: [] },
      mutations: [
        ['external_ids', 'delete', [key]],
        ['external_ids', 'insert', { [key]: value }],
      ],
    },
  ]);

/** Adds to a list as a careful program does: it looks again where the list has changed meanwhile. */
async function addEntry(client: OvsdbClient, entry: string, list = 'ovn-bridge-mappings'): Promise<void> {
  for (;;) {
    const pairs = await readPairs(client);
    const before = pairs.get(list);
    const value = before === undefined ? entry : `${before},${entry}`;
    const where = before === undefined ? [] : ([['external_ids', 'includes', { [list]: before }]] as const);
    const mutations = [
      ['external_ids', 'delete', before === undefined ? {} : { [list]: before }],
      ['external_ids', 'insert', { [list]: value }],
    ] as const;
    const check = [['external_ids', 'includes', { [list]: value }]] as const;
    try {
      await client.transact([
        { op: 'mutate', table, where, mutations },
        { op: 'wait', table, where: check, columns: ['external_ids'], until: '!=', rows: [] },
      ]);
      return;
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
    }
  }
}

export interface Writers {
  /** Names of entries that engines of ours add, each its own. */
  readonly ours: readonly string[];
  /** Entries that other programs add. */
  readonly theirs: readonly string[];
  /** Names of entries that engines of ours have added before, and remove now. */
  readonly removed: readonly string[];
}

const entryOf = (name: string): Resource => ({
  ...{ kind: 'ovs-setting-entry', key: LIST, name, value: `of:${name}` },
});

/** All write at one time: into a list that is there where entries are removed, and else into none. @returns the entries that are there afterwards, and those that should be */
export async function writeInParallel(
  connect: () => OvsdbClient,
  { ours, theirs, removed }: Writers,
): Promise<{ readonly found: readonly string[]; readonly wanted: readonly string[] }> {
  const gone = removed.map((name) => `gone-${name}`);
  const engines = [...ours, ...gone].map(() => createEngine({ backends: [createSwitchBackend(connect())] }));
  const others = theirs.map(connect);
  const reader = connect();
  const owned = (name: string) => ({ owner: name, resources: [entryOf(name)] });
  try {
    // The row is there for all of them.
    const system: Resource = { kind: 'ovs-setting', key: 'system-id', value: 'n1' };
    await engines[0]!.apply({ owner: 'base', resources: [system] }, call());
    for (const name of gone) await engines[0]!.apply(owned(name), call());
    // All have looked once: what they know is out of date as soon as one of them writes.
    for (const engine of engines) await engine.verify(owned('any'), call());
    await Promise.all([
      ...ours.map((name, index) => engines[index]!.apply(owned(name), call())),
      ...gone.map((name, index) => engines[ours.length + index]!.remove(owned(name), call())),
      ...theirs.map((name, index) => addEntry(others[index]!, `${name}:1`, LIST)),
    ]);
    const wanted = [...ours.map((name) => `${name}:of:${name}`), ...theirs.map((name) => `${name}:1`)];
    const found = (await readPairs(reader)).get(LIST)!.split(',');
    return { found: found.sort(), wanted: wanted.sort() };
  } finally {
    for (const engine of engines) await engine.close();
    for (const client of [...others, reader]) await client.close();
  }
}
