/** `settle` of the northbound backend; here a fake plays ovn-northd and the hypervisors. */
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createNorthboundBackend } from '../src/northbound/index.js';
import { connect } from './connect.js';
import { createFakeNorthbound, type FakeDatabase } from './fake-database.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });

function open(at: FakeDatabase, patience = 10_000) {
  const client = connect(at);
  const send = client.transact.bind(client);
  const backend = createNorthboundBackend(client, { patience });
  onTestFinished(() => backend.close());
  return { client, backend, send, transact: vi.spyOn(client, 'transact') };
}

/** With the rows in the cache. */
async function openFollowed(at: FakeDatabase, patience?: number) {
  const opened = open(at, patience);
  const session = opened.backend.open({ owner: 'node', resources: [] }, undefined as never);
  await session.observe([], undefined, call());
  return opened;
}

const withRow = (): FakeDatabase => {
  const at = createFakeNorthbound();
  at.server.transact({ op: 'insert', table: 'NB_Global', row: {} });
  return at;
};

type Done = 'sb_cfg' | 'hv_cfg';

/** Resolves when the northbound database asks for so much. */
async function untilAsked(at: FakeDatabase, number: number): Promise<void> {
  const cache = await connect(at).monitor({ NB_Global: { columns: ['nb_cfg'] } });
  await cache.until((rows) =>
    [...rows.rows('NB_Global').values()].some((row) => Number(row['nb_cfg']) >= number),
  );
}

const report = (at: FakeDatabase, column: Done, number: number): unknown =>
  at.server.transact({ op: 'update', table: 'NB_Global', where: [], row: { [column]: number } });

test.each([
  ['southbound', 'sb_cfg', 'hv_cfg'],
  ['hypervisors', 'hv_cfg', 'sb_cfg'],
] as const)('what is to reach %s waits for %s, and for nothing else', async (reach, column, other) => {
  const at = withRow();
  const { backend, client } = await openFollowed(at);
  let isSettled = false;
  const settled = backend.settle(reach, call()).then(() => (isSettled = true));
  await untilAsked(at, 1);
  report(at, other, 7);
  await client.transact([]);
  expect(isSettled).toBe(false);
  report(at, column, 1);
  await settled;
});

test('a new database is waited for, until ovn-northd has made its row', async () => {
  const at = createFakeNorthbound();
  const { backend } = open(at);
  const settled = backend.settle('southbound', call());
  await connect(at).transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
  await untilAsked(at, 1);
  report(at, 'sb_cfg', 1);
  await settled;
});

test('a database that is emptied before the question is waited for as a new one', async () => {
  const at = withRow();
  const { backend, send, transact } = await openFollowed(at);
  transact.mockImplementationOnce((operations, options) => {
    at.server.transact({ op: 'delete', table: 'NB_Global', where: [] });
    return send(operations, options).finally(() => {
      at.server.transact({ op: 'insert', table: 'NB_Global', row: {} });
    });
  });
  const settled = backend.settle('southbound', call());
  await untilAsked(at, 1);
  report(at, 'sb_cfg', 1);
  await settled;
  expect(transact).toHaveBeenCalledTimes(2);
});

test('those who ask at one time share a question, and each asks after its own rows', async () => {
  const at = withRow();
  const { backend, transact } = await openFollowed(at);
  const settled = Array.from({ length: 50 }, () => backend.settle('southbound', call()));
  await untilAsked(at, 1);
  const late = backend.settle('southbound', call());
  await untilAsked(at, 2);
  expect(transact.mock.calls.length).toBe(2);
  report(at, 'sb_cfg', 1);
  await Promise.all(settled);
  report(at, 'sb_cfg', 2);
  await late;
});

test.each([
  ['southbound', 'ovn-northd has not taken over what is in the northbound database within 50 ms'],
  ['hypervisors', 'not every ovn-controller has taken over what is in the northbound database within 50 ms'],
] as const)('%s is given up when the patience is over', async (reach, message) => {
  const { backend } = await openFollowed(withRow(), 50);
  await expect(backend.settle(reach, call())).rejects.toMatchObject({ code: 'BACKEND_SILENT', message });
});

test('a database that cannot be reached is silent, and the caller may give up', async () => {
  const at = withRow();
  at.server.stop();
  const { backend } = open(at, 50);
  const message = 'the database OVN_Northbound cannot be used: no connection within 50 ms';
  await expect(backend.settle('southbound', call())).rejects.toMatchObject({
    code: 'BACKEND_SILENT',
    message,
  });
  const reason = new Error('given up');
  const signal = AbortSignal.abort(reason);
  await expect(backend.settle('southbound', { signal, timeout: 10_000 })).rejects.toBe(reason);
});

test('a question whose answer is lost is asked again', async () => {
  const at = withRow();
  const { backend, send, transact } = await openFollowed(at);
  transact.mockImplementationOnce((operations, options) => {
    at.server.setSilent(true);
    void untilCounted(at).then(() => {
      at.server.cut();
      at.server.setSilent(false);
    });
    return send(operations, options);
  });
  const settled = backend.settle('southbound', call());
  await untilAsked(at, 2);
  report(at, 'sb_cfg', 2);
  await settled;
});

/** Nothing else shows that the question has come while the server is silent. */
async function untilCounted({ server }: FakeDatabase): Promise<void> {
  const select = { op: 'select', table: 'NB_Global', where: [['nb_cfg', '==', 1]] };
  while (!JSON.stringify(server.transact(select)).includes('nb_cfg')) await setImmediate();
}
