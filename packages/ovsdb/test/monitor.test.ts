import { silentLog } from '@podwire/platform';
import { describe, expect, test } from 'vitest';
import { Monitor } from '../src/cache/monitor.js';
import { parseSchema } from '../src/parse-schema.js';
import { testSchema } from './compliance/index.js';
import { type Bench, createBench } from './support/peer.js';

const zero = '00000000-0000-0000-0000-000000000000';
const [one, two, row] = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
const schema = parseSchema(testSchema);

const createMonitor = (): Monitor =>
  new Monitor({
    id: 'm',
    database: 'Test',
    tables: { Single: { columns: ['value'] } },
    indexes: {},
    log: silentLog,
  });

/** Attaches the monitor; the server gives these answers in turn. @returns the parameters of its requests */
async function attach(
  { peer, connection }: Bench,
  monitor: Monitor,
  ...answers: unknown[]
): Promise<unknown[]> {
  const attached = monitor.attach(connection, schema, { timeout: 1000 });
  const answered = (async () => {
    const requests: unknown[] = [];
    for (const answer of answers) requests.push((await peer.answer(answer)).params);
    return requests;
  })();
  await attached.catch((error: unknown) => {
    if ((error as { readonly code?: string }).code !== 'PROTOCOL') throw error;
  });
  return answered;
}

const initial = [false, one, { Single: { [row!]: { initial: { value: 1 } } } }];
const requests = { Single: [{ columns: ['value'] }] };

describe('a monitor', () => {
  test('asks for what came after the last transaction that it has seen', async () => {
    const bench = createBench();
    const monitor = createMonitor();
    expect(await attach(bench, monitor, initial)).toEqual([['Test', 'm', requests, zero]]);
    monitor.receive('update3', ['m', two, { Single: { [row!]: { modify: { value: 2 } } } }]);
    expect(await attach(bench, monitor, [true, two, {}])).toEqual([['Test', 'm', requests, two]]);
    expect(monitor.rows('Single').get(row!)).toEqual({ _uuid: row, value: 2 });
  });

  test.each([
    ['changes a row that is not there', [true, two, { Single: { [two!]: { modify: { value: 2 } } } }]],
    ['has no updates', [true, two, null]],
    ['has a table that was not asked for', [true, two, { Pair: { [row!]: { initial: {} } } }]],
  ])('asks for everything after an answer that %s, and keeps its rows until then', async (_name, answer) => {
    const bench = createBench();
    const monitor = createMonitor();
    await attach(bench, monitor, initial);
    await attach(bench, monitor, answer);
    expect(monitor.rows('Single').get(row!)).toEqual({ _uuid: row, value: 1 });
    expect(await attach(bench, monitor, initial)).toEqual([['Test', 'm', requests, zero]]);
  });

  test('takes no update of another kind', async () => {
    const bench = createBench();
    const monitor = createMonitor();
    await attach(bench, monitor, initial);
    expect(() => monitor.receive('update', ['m', {}])).toThrow('expected an update, found "update"');
    expect(() => monitor.receive('update3', ['m', 'no id', {}])).toThrow('expected the id of a transaction');
  });
});
