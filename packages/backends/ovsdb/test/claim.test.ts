/** The writer of the northbound database: changes of one that has been succeeded do not pass. */
import { createEngine } from '@podwire/engine';
import { expect, onTestFinished, test } from 'vitest';
import { createNorthboundBackend } from '../src/northbound/index.js';
import { connect } from './connect.js';
import { createFakeNorthbound, type FakeDatabase } from './fake-database.js';
import { base, port } from './northbound-subject.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });
const message = 'another controller writes the database OVN_Northbound by now';

/** With its own connection, as a process has it. */
function open(at: FakeDatabase, patience?: number) {
  const backend = createNorthboundBackend(connect(at), patience === undefined ? {} : { patience });
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  return { backend, engine };
}

const pod = (name: string) => ({ owner: name, resources: [port(name)] });

const withRow = (): FakeDatabase => {
  const at = createFakeNorthbound();
  const row = { external_ids: ['map', [['foreign', 'yes']]] };
  at.server.transact({ op: 'insert', table: 'NB_Global', row });
  return at;
};

const pairsOf = (at: FakeDatabase): unknown => {
  const [result] = at.server.transact({ op: 'select', table: 'NB_Global', where: [] });
  const { rows } = result as { rows: { external_ids: ['map', [string, string][]] }[] };
  return rows.map(({ external_ids: [, pairs] }) => Object.fromEntries(pairs));
};

test('adds, changes and removals of a writer that was succeeded are refused, and its successor goes on', async () => {
  const at = withRow();
  const [old, next] = [open(at), open(at)];
  await old.backend.claim('one/1', call());
  for (const list of [base, pod('web')]) await old.engine.apply(list, call());
  await next.backend.claim('two/2', call());
  const before = at.picture();
  const refused = { code: 'STORE_CONFLICT', message };
  await expect(old.engine.apply(pod('late'), call())).rejects.toMatchObject(refused);
  await expect(old.engine.remove(pod('web'), call())).rejects.toMatchObject({ code: 'REMOVE_INCOMPLETE' });
  const changed = { owner: 'web', resources: [port('web', { addresses: ['00:00:00:00:00:09 10.16.0.9'] })] };
  const reconciled = old.engine.reconcile([base, changed], { ...call(), keepLeftovers: true });
  await expect(reconciled).rejects.toMatchObject(refused);
  expect(at.picture()).toEqual(before);
  await next.engine.apply(pod('late'), call());
});

test('a writer that claims again is the one whose changes pass', async () => {
  const at = withRow();
  const [one, other] = [open(at), open(at)];
  await one.backend.claim('one/1', call());
  await other.backend.claim('two/2', call());
  await one.backend.claim('one/3', call());
  await one.engine.apply(base, call());
  await expect(other.engine.apply(pod('web'), call())).rejects.toMatchObject({ code: 'STORE_CONFLICT' });
});

test('the claim is one pair among those of others', async () => {
  const at = withRow();
  const { backend } = open(at);
  for (const writer of ['one/1', 'one/2']) await backend.claim(writer, call());
  const picture = { foreign: 'yes', 'podwire-writer': 'one/2' };
  expect(pairsOf(at)).toEqual([picture]);
});

test('a database that was emptied refuses changes until the next claim', async () => {
  const at = withRow();
  const { backend, engine } = open(at);
  await backend.claim('one/1', call());
  at.server.transact({ op: 'delete', table: 'NB_Global', where: [] });
  await expect(engine.apply(base, call())).rejects.toMatchObject({ code: 'STORE_CONFLICT' });
  await backend.claim('one/1', call());
  await engine.apply(base, call());
});

test('a backend without a claim writes beside every writer', async () => {
  const at = withRow();
  await open(at).backend.claim('one/1', call());
  await open(at).engine.apply(base, call());
});

test('a database that does not answer is silent', async () => {
  const at = withRow();
  at.server.stop();
  const { backend } = open(at, 50);
  await expect(backend.claim('one/1', call())).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
});
