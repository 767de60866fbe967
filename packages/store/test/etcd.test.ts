/** Requests to each member, and the handling of the answers: against members with scripted answers. */
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { silentLog, systemClock } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import type { Store, WatchBatch } from '../src/contract.js';
import { type EtcdSpec, openEtcdStore } from '../src/etcd/index.js';
import { isGuarded, toLeaseId, toLeaseNumber, toRange } from '../src/etcd/codec.js';
import { type Behaviour, type FakeCall, type FakeEtcd, refusals, startFakeEtcd } from './etcd-fake.js';

const header = { clusterId: '7', revision: 5 };

async function start(behaviour: Behaviour | Behaviour['answer']): Promise<FakeEtcd> {
  const member = await startFakeEtcd(typeof behaviour === 'function' ? { answer: behaviour } : behaviour);
  onTestFinished(() => member.close());
  return member;
}

async function open(
  members: readonly FakeEtcd[],
  more: Partial<EtcdSpec> = {},
  options: Partial<Parameters<typeof openEtcdStore>[1]> = {},
): Promise<Store> {
  const spec: EtcdSpec = { kind: 'etcd', endpoints: members.map(({ endpoint }) => endpoint), ...more };
  const store = await openEtcdStore(spec, {
    ...{ log: silentLog, clock: systemClock, random: () => 0 },
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

const refuse = (error: Error) => (): never => {
  throw error;
};

const failure = async (work: Promise<unknown>): Promise<PodwireError> => {
  const error: unknown = await work.then(
    () => 'nothing',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PodwireError);
  return error as PodwireError;
};

const names = ({ calls }: FakeEtcd): readonly string[] => calls.map(({ name }) => name);

test('a member without a leader is left, also for a write: it has done nothing', async () => {
  const [lost, good] = [await start(refuse(refusals.noLeader)), await start(() => ({ header }))];
  const store = await open([lost, good]);
  expect(await store.put('/a', '1')).toBe(5);
  expect(await store.put('/a', '2')).toBe(5);
  expect([names(lost), names(good)]).toEqual([['Put'], ['Put', 'Put']]);
  expect(lost.calls.every(({ needsLeader }) => needsLeader)).toBe(true);
});

test('a write that is refused until its time is over is not sent once more in its last moments', async () => {
  // Pauses take no time, so that only the number of attempts says when each of them began.
  for (const call of [3_000, 3_120, 3_240, 3_360, 3_480, 3_600, 3_720, 3_840]) {
    let now = 0;
    const times: number[] = [];
    const lost = await start(() => {
      times.push(now);
      throw refusals.noLeader;
    });
    const sleep = (ms: number): Promise<void> => Promise.resolve(void (now += ms));
    const clock = { ...systemClock, elapsed: () => now, sleep };
    const store = await open([lost], {}, { clock, timeouts: { call } });
    const { message, details } = await failure(store.put('/a', '1'));
    expect([message, details['uncertain']]).toEqual([expect.stringContaining('no leader'), false]);
    expect(times.length).toBeGreaterThan(3);
    expect(times.at(-1)).toBeLessThanOrEqual(call - 250);
  }
});

test('a write that may have been done is sent to no other member', async () => {
  const [slow, good] = [await start(refuse(refusals.timedOut)), await start(() => ({ header }))];
  const store = await open([slow, good]);
  const { code, details } = await failure(store.put('/a', '1'));
  expect([code, details['uncertain']]).toEqual(['STORE_UNAVAILABLE', true]);
  expect(names(good)).toEqual([]);
});

test('a write that cannot happen twice is put to the next; it is certain when that one does it', async () => {
  const slow = await start(refuse(refusals.timedOut));
  const does = await start(() => ({ header, succeeded: true }));
  expect(await (await open([slow, does])).put('/a', '1', { expect: 'absent' })).toBe(5);
});

test('and uncertain when that one finds something else: it may be our own', async () => {
  const slow = await start(refuse(refusals.timedOut));
  const refuses = await start(() => ({
    header,
    succeeded: false,
    responses: [{ responseRange: { header } }],
  }));
  const { code, details } = await failure((await open([slow, refuses])).put('/a', '1', { expect: 'absent' }));
  expect([code, details['uncertain']]).toEqual(['STORE_UNAVAILABLE', true]);
});

test('and uncertain when that one finds the lease gone: it may have ended after the first had done it', async () => {
  const [slow, refuses] = [await start(refuse(refusals.timedOut)), await start(refuse(refusals.noLease))];
  const put = (store: Store) => failure(store.put('/a', '1', { expect: 'absent', lease: '7' }));
  const { code, details } = await put(await open([slow, refuses]));
  expect([code, details['uncertain']]).toEqual(['STORE_UNAVAILABLE', true]);
  expect((await put(await open([refuses]))).code).toBe('STORE_LEASE_LOST');
});

test('a refusal ends a call at once', async () => {
  const [denying, other] = [await start(refuse(refusals.denied)), await start(() => ({ header }))];
  const { code, message, details } = await failure((await open([denying, other])).put('/a', '1'));
  expect([code, details['uncertain'], names(other)]).toEqual(['STORE_DENIED', false, []]);
  expect(message).toContain(denying.endpoint);
});

test('what is no etcd says so', async () => {
  const member = await start(() => ({ header }));
  const error = await failure((await open([member])).grantLease(1000));
  expect(error.message).toMatch(/no etcd with version 3/);
});

test('a token that is refused is renewed once for many calls, and the password is read anew', async () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-etcd-')), 'password');
  onTestFinished(() => fs.rmSync(path.dirname(file), { recursive: true }));
  fs.writeFileSync(file, 'first\n');
  let good = 'token 1';
  const member = await start(({ name, request, token }: FakeCall) => {
    if (name === 'Authenticate')
      return { token: `token ${(request as { password: string }).password === 'first' ? 1 : 2}` };
    if (token !== good) throw refusals.invalidToken;
    return { header };
  });
  const store = await open([member], { username: 'u', passwordFile: file });
  await store.get('/a');
  good = 'token 2';
  fs.writeFileSync(file, 'second');
  await Promise.all(Array.from({ length: 20 }, () => store.put('/a', '1')));
  expect(names(member).filter((name) => name === 'Authenticate')).toHaveLength(2);
});

test('who has given up already hears only that, whatever becomes of the login', async () => {
  const member = await start(() => ({ header }));
  const store = await open([member], { username: 'u', passwordFile: '/nowhere/password' });
  // Vitest fails a run with an unhandled rejection.
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(store.get('/a', { signal })).rejects.toThrow('enough');
  expect((await failure(store.get('/a'))).code).toBe('STORE_DENIED');
});

test('calls under way when the store is closed end, and are not repeated', async () => {
  let asked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const member = await start(() => {
    asked();
    throw refusals.noLeader;
  });
  const pauses: number[] = [];
  const clock = {
    ...systemClock,
    sleep: (milliseconds: number, signal: AbortSignal) => {
      pauses.push(milliseconds);
      // Else a mistake would block all others in the process.
      if (pauses.length > 20) throw new Error('it goes on and on');
      return systemClock.sleep(60_000, signal);
    },
  };
  const spec: EtcdSpec = { kind: 'etcd', endpoints: [member.endpoint] };
  const store = await openEtcdStore(spec, { log: silentLog, clock, random: () => 0 });
  const never = new AbortController();
  onTestFinished(() => never.abort());
  const calls = [failure(store.get('/a')), failure(store.get('/a', { signal: never.signal }))];
  await isAsked;
  await expect.poll(() => pauses.length).toBe(2);
  await store.close();
  for (const { message, details } of await Promise.all(calls))
    expect([message, details['uncertain']]).toEqual(['the store is closed', false]);
  expect([pauses.length, names(member).length]).toEqual([2, 2]);
});

test('a store that is closed during a login makes no connection any more', async () => {
  let finish = (): void => undefined;
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-etcd-')), 'password');
  onTestFinished(() => fs.rmSync(path.dirname(file), { recursive: true }));
  fs.writeFileSync(file, 'x');
  let connections = 0;
  const silent = net.createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    finish();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as net.AddressInfo;
  const connected = new Promise<void>((resolve) => (finish = resolve));
  const spec = { endpoints: [`http://127.0.0.1:${port}`], username: 'u', passwordFile: file };
  const store = await open([], spec);
  const call = failure(store.get('/a'));
  await connected;
  await store.close();
  expect((await call).message).toBe('the store is closed');
  expect(connections).toBe(1);
});

test('a list that is overtaken by a compaction begins anew', async () => {
  const kv = (name: string) => ({ key: Buffer.from(name), value: Buffer.from('x'), modRevision: 3 });
  let pages = 0;
  const member = await start(({ request }) => {
    const { revision } = request as { revision: number };
    if (revision === 0) return { header, kvs: [kv('/a')], more: true };
    pages += 1;
    if (pages === 1) throw refusals.compacted;
    return { header, kvs: [kv('/b')], more: false };
  });
  const { items, revision } = await (await open([member])).list('/');
  expect([items.map(({ key }) => key), revision]).toEqual([['/a', '/b'], 5]);
});

test('the pieces of one revision are told together', async () => {
  const event = (name: string) => ({
    kv: { key: Buffer.from(name), value: Buffer.from('x'), modRevision: 6, lease: '0' },
  });
  const member = await start({
    answer: () => ({ header }),
    watch: (request, tell) => {
      expect(request.createRequest).toMatchObject({ startRevision: 6, fragment: true, progressNotify: true });
      tell({ header, created: true });
      tell({ header, events: [event('/a'), event('/b')], fragment: true });
      tell({ header, events: [event('/c')] });
    },
  });
  const over = new AbortController();
  const batches: WatchBatch[] = [];
  for await (const batch of (await open([member])).watch('/', { signal: over.signal })) {
    batches.push(batch);
    if (batches.length === 2) over.abort();
  }
  expect(batches[1]).toMatchObject({ type: 'changes', revision: 6 });
  expect(batches[1]?.type === 'changes' && batches[1].changes).toHaveLength(3);
});

test('a watch leaves a member that has no leader any more, and goes on at another where it was', async () => {
  const event = (name: string, modRevision: number) => ({
    kv: { key: Buffer.from(name), value: Buffer.from('x'), modRevision, lease: '0' },
  });
  const answer: Behaviour['answer'] = ({ request }) => {
    const { revision } = request as { revision: number };
    return { header, kvs: revision === 6 ? [event('/a', 6).kv] : [] };
  };
  const lost = await start({
    answer,
    watch: (_, tell) => {
      tell({ header, created: true });
      tell({ header, events: [event('/a', 6)] });
      setImmediate(() => tell(refusals.noLeader));
    },
  });
  const good = await start({
    answer,
    watch: (request, tell) => {
      expect(request.createRequest).toMatchObject({ startRevision: 7 });
      tell({ header, created: true });
      tell({ header, events: [event('/b', 7)] });
    },
  });
  const over = new AbortController();
  const news: string[] = [];
  const options = {
    signal: over.signal,
    onInterruption: (error: unknown) => void news.push((error as Error).message),
    onRecovery: () => void news.push('recovery'),
  };
  for await (const batch of (await open([lost, good])).watch('/', options)) {
    news.push(batch.type === 'snapshot' ? 'snapshot' : batch.changes.map((each) => each.type).join());
    if (batch.revision === 7) over.abort();
  }
  expect(news).toEqual(['snapshot', 'put', expect.stringContaining('no leader'), 'recovery', 'put']);
});

test('endpoints and files that cannot be are refused at the beginning', async () => {
  const options = { log: silentLog, clock: systemClock };
  for (const endpoints of [[], ['127.0.0.1:2379'], ['unix:///run/etcd'], ['http://user:word@host:1']])
    expect((await failure(openEtcdStore({ kind: 'etcd', endpoints }, options))).code).toBe('CONFIG_INVALID');
  const tls = { ca: '/nowhere/ca.pem' };
  const spec: EtcdSpec = { kind: 'etcd', endpoints: ['https://127.0.0.1:1'], tls };
  expect((await failure(openEtcdStore(spec, options))).code).toBe('STORE_DENIED');
});

test('leases are shown as etcdctl shows them, beyond what numbers hold', () => {
  expect(toLeaseId('7587882013379829254')).toBe('694d927d25149e06');
  expect(toLeaseNumber('694d927d25149e06')).toBe('7587882013379829254');
  expect([toLeaseId('0'), toLeaseNumber(undefined)]).toEqual([undefined, '0']);
  expect(() => toLeaseNumber('not one')).toThrow(
    expect.objectContaining({ code: 'STORE_LEASE_LOST' }) as Error,
  );
});

test('a prefix ends before the next text of its length', () => {
  const ends = (prefix: string) => toRange(prefix).rangeEnd.toString('latin1');
  expect([ends('/a/'), ends('/a~'), ends('')]).toEqual(['/a0', '/a\x7f', '\0']);
});

test('which transactions cannot happen twice', () => {
  const put = { op: 'put', key: '/a', value: '1' } as const;
  const remove = { op: 'delete', key: '/a' } as const;
  const guarded = (key: string, expect: 'absent' | number, write: typeof put | typeof remove) =>
    isGuarded({ conditions: [{ key, expect }], writes: [write] });
  expect(guarded('/a', 'absent', put)).toBe(true);
  expect(guarded('/a', 3, put)).toBe(true);
  expect(guarded('/a', 3, remove)).toBe(true);
  expect(guarded('/a', 'absent', remove)).toBe(false);
  expect(guarded('/b', 3, put)).toBe(false);
});
