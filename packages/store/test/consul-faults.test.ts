import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Store, WatchBatch } from '@podwire/store';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ConsulBed, createConsulBed } from './support/consul-bed.js';

const beds: ConsulBed[] = [];

async function bed(...options: Parameters<typeof createConsulBed>): Promise<ConsulBed> {
  const made = await createConsulBed(...options);
  beds.push(made);
  return made;
}

afterEach(async () => {
  for (const each of beds.splice(0)) await each.close();
});

const serverOf = ({ servers }: ConsulBed, at = 0) => {
  const server = servers[at];
  if (server === undefined) throw new Error(`there is no server ${at}`);
  return server;
};

/** The next batches of a watch, one after the other. */
function watch(store: Store, prefix: string, more: { from?: number; log?: string[] } = {}) {
  const end = new AbortController();
  const batches = store.watch(prefix, {
    signal: end.signal,
    ...(more.from === undefined ? {} : { from: more.from }),
    onInterruption: () => void more.log?.push('interrupted'),
    onRecovery: () => void more.log?.push('recovered'),
  });
  const iterator: AsyncIterator<WatchBatch> = batches[Symbol.asyncIterator]();
  return {
    async next(): Promise<WatchBatch> {
      const result = await iterator.next();
      if (result.done === true) throw new Error('the watch is over');
      return result.value;
    },
    end: () => end.abort(),
  };
}

const unavailable = (uncertain: boolean) => ({ code: 'STORE_UNAVAILABLE', details: { uncertain } });

describe('writes without an answer', () => {
  it('that were cut off after they were done are uncertain', async () => {
    const made = await bed();
    const store = made.open();
    void serverOf(made).faults.next('PUT /v1/txn', { kind: 'cut-after' });
    await expect(store.put('/a', '1')).rejects.toMatchObject(unavailable(true));
    expect((await store.get('/a'))?.value).toBe('1');
  });

  it('that were sent are not sent to another server', async () => {
    const made = await bed({ servers: 2 });
    const store = made.open();
    void serverOf(made).faults.next('PUT /v1/txn', { kind: 'cut' });
    await expect(store.put('/a', '1')).rejects.toMatchObject(unavailable(true));
    expect(serverOf(made, 1).requests).toEqual([]);
    // The next call begins at the other one.
    await store.put('/a', '2');
    expect(serverOf(made, 1).requests).toEqual(['PUT /v1/txn']);
  });

  it('that hang are cut off', { tags: ['long'] }, async () => {
    const made = await bed();
    const store = made.open();
    void serverOf(made).faults.next('PUT /v1/txn', { kind: 'hang' });
    await expect(store.put('/a', '1')).rejects.toMatchObject(unavailable(true));
  });

  it('that met an error of the server are uncertain', async () => {
    const made = await bed();
    const store = made.open();
    void serverOf(made).faults.next('PUT /v1/txn', { kind: 'answer', status: 500, text: 'leadership lost' });
    await expect(store.put('/a', '1')).rejects.toMatchObject(unavailable(true));
  });

  it.each([
    [500, 'No cluster leader'],
    [429, 'Your IP is issuing too many concurrent connections'],
  ])('that were refused with %i %s were not done, and go to another server', async (status, text) => {
    const made = await bed({ servers: 2 });
    const store = made.open();
    void serverOf(made, 0).faults.next('PUT /v1/txn', { kind: 'answer', status, text });
    await store.put('/a', '1');
    void serverOf(made, 1).faults.next('PUT /v1/txn', { kind: 'answer', status, text });
    void serverOf(made, 0).faults.next('PUT /v1/txn', { kind: 'answer', status, text });
    await expect(store.put('/a', '2')).rejects.toMatchObject(unavailable(false));
  });

  it('to a server that is not there go to the next one', async () => {
    const made = await bed({ servers: 2 });
    const store = made.open();
    await serverOf(made, 0).close();
    await store.put('/a', '1');
    expect((await store.get('/a'))?.value).toBe('1');
    await serverOf(made, 1).close();
    // Kept connections are gone as well: nothing was sent.
    await expect(store.put('/a', '2')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('that only deleted are uncertain when their revision cannot be had', async () => {
    const made = await bed();
    const store = made.open();
    await store.put('/a', '1');
    void serverOf(made).faults.next('GET /v1/kv/a?keys', { kind: 'cut' });
    await expect(
      store.transact({ conditions: [], writes: [{ op: 'delete', key: '/a' }] }),
    ).rejects.toMatchObject(unavailable(true));
    expect(await store.get('/a')).toBeUndefined();
  });
});

describe('reads', () => {
  it('go on at the next server', async () => {
    const made = await bed({ servers: 3 });
    const store = made.open();
    await store.put('/a', '1');
    void serverOf(made, 0).faults.next('GET /v1/kv/a', { kind: 'cut' });
    void serverOf(made, 1).faults.next('GET /v1/kv/a', { kind: 'answer', status: 503, text: '' });
    expect((await store.get('/a'))?.value).toBe('1');
  });

  it('end with the reason of the signal', async () => {
    const made = await bed();
    const store = made.open();
    const reason = new Error('enough');
    const end = new AbortController();
    const hung = serverOf(made).faults.next('GET /v1/kv/a', { kind: 'hang' });
    const reading = store.get('/a', { signal: end.signal });
    await hung;
    end.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  it('of nonsense are no answer', async () => {
    const made = await bed();
    const store = made.open();
    void serverOf(made).faults.next('GET /v1/kv/a', { kind: 'answer', status: 200, text: '<html>' });
    await expect(store.get('/a')).rejects.toMatchObject(unavailable(false));
  });
});

describe('what is put', () => {
  it('counts as written also when the text is the same', async () => {
    const store = (await bed()).open();
    const first = await store.put('/a', 'x');
    const second = await store.put('/a', 'x');
    expect(second).toBeGreaterThan(first);
    expect((await store.get('/a'))?.revision).toBe(second);
  });

  it('without a lease stays when the lease ends that it was bound to', async () => {
    const made = await bed();
    const store = made.open();
    const lease = await store.grantLease(10_000);
    await store.put('/a', '1', { lease: lease.id });
    await store.put('/b', '1', { lease: lease.id });
    await store.put('/a', '2');
    expect(await store.get('/a')).not.toHaveProperty('lease');
    await lease.revoke();
    expect((await store.list('/')).items.map(({ key }) => key)).toEqual(['/a']);
  });

  it('with another lease goes with that one', async () => {
    const made = await bed();
    const store = made.open();
    const [first, second] = [await store.grantLease(10_000), await store.grantLease(10_000)];
    await store.put('/a', '1', { lease: first.id });
    await store.put('/a', '2', { lease: second.id });
    await first.revoke();
    expect(await store.get('/a')).toMatchObject({ value: '2', lease: second.id });
    await second.revoke();
    expect(await store.get('/a')).toBeUndefined();
  });

  it('fits into what every Consul takes when a transaction is as large as it may be', async () => {
    const store = (await bed()).open();
    const keys = Array.from({ length: store.limits.operations }, (_, at) => `/k${at}`);
    const writes = keys.map((key) => ({ op: 'put', key, value: '' }) as const);
    expect(await store.transact({ conditions: [], writes })).toMatchObject({ committed: true });
    const { items } = await store.list('/');
    const conditions = items.map(({ key, revision }) => ({ key, expect: revision }));
    expect(await store.transact({ conditions, writes })).toMatchObject({ committed: true });
    await store.put('/k0', 'x'.repeat(store.limits.valueBytes));
  });

  it('is refused when it is more than a request may be', async () => {
    const store = (await bed()).open();
    const writes = ['/a', '/b'].map((key) => ({ op: 'put', key, value: 'x'.repeat(300_000) }) as const);
    await expect(store.transact({ conditions: [], writes })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
  });
});

describe('leases', () => {
  it('are sessions of ten seconds at least, which live on by being renewed', async () => {
    const made = await bed();
    const store = made.open();
    const lease = await store.grantLease(1_500);
    expect(lease.ttl).toBe(10_000);
    await store.put('/a', '1', { lease: lease.id });
    for (let turn = 0; turn < 5; turn++) {
      made.clock.leap(9_000);
      await lease.keepAlive();
    }
    expect(await store.get('/a')).toBeDefined();
    const watched = watch(store, '/');
    await watched.next();
    // Consul waits for twice the length.
    made.clock.leap(20_000);
    expect(await watched.next()).toMatchObject({ type: 'changes', changes: [{ type: 'delete', key: '/a' }] });
    await expect(lease.keepAlive()).rejects.toMatchObject({ code: 'STORE_LEASE_LOST' });
    await expect(store.put('/a', '2', { lease: lease.id })).rejects.toMatchObject({
      code: 'STORE_LEASE_LOST',
    });
    await lease.revoke();
    watched.end();
  });

  it('leave their keys free at once', async () => {
    const store = (await bed()).open();
    const [first, second] = [await store.grantLease(10_000), await store.grantLease(10_000)];
    await store.put('/leader', 'one', { lease: first.id, expect: 'absent' });
    await expect(store.put('/leader', 'two', { lease: second.id, expect: 'absent' })).rejects.toMatchObject({
      code: 'STORE_CONFLICT',
    });
    await first.revoke();
    await store.put('/leader', 'two', { lease: second.id, expect: 'absent' });
  });

  it('that have ended may be revoked, whatever the version answers to that', async () => {
    const made = await bed();
    const lease = await made.open().grantLease(10_000);
    const answer = { kind: 'answer', status: 500, text: `Unknown session "${lease.id}"` } as const;
    void serverOf(made).faults.next('/session/destroy/', answer);
    await lease.revoke();
    void serverOf(made).faults.next('/session/destroy/', { ...answer, text: 'rpc error' });
    await expect(lease.revoke()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('are kept alive at whatever server answers', async () => {
    const made = await bed({ servers: 2 });
    const store = made.open();
    const lease = await store.grantLease(10_000);
    await serverOf(made, 0).close();
    await lease.keepAlive();
  });
});

describe('rights', () => {
  const tokens = {
    all: { write: '', sessions: true },
    reader: { read: 'podwire/' },
    some: { read: 'podwire/shared/', write: 'podwire/shared/' },
  };
  const withToken = async (token: string) => {
    const made = await bed({ tokens: { ...tokens } });
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-token-'));
    onTestFinished(() => fs.rmSync(directory, { recursive: true }));
    const tokenFile = path.join(directory, 'token');
    fs.writeFileSync(tokenFile, `${token}\n`);
    return { made, tokenFile, store: made.open({ tokenFile }) };
  };
  const denied = { code: 'STORE_DENIED' };

  it('are needed for everything', async () => {
    const made = await bed({ tokens });
    const store = made.open();
    await expect(store.get('/podwire/a')).rejects.toMatchObject(denied);
    await expect(store.put('/podwire/a', '')).rejects.toMatchObject(denied);
    await expect(store.grantLease(10_000)).rejects.toMatchObject(denied);
  });

  it('to read are none to write', async () => {
    const { store } = await withToken('reader');
    expect(await store.get('/podwire/a')).toBeUndefined();
    // Consul answers this with a transaction rolled back.
    await expect(store.put('/podwire/a', '')).rejects.toMatchObject(denied);
    await expect(store.put('/podwire/a', '', { expect: 'absent' })).rejects.toMatchObject(denied);
  });

  it('for a part are none for a list: the rest would seem to be gone', async () => {
    const { made, store } = await withToken('some');
    made.consul.transact([{ Verb: 'set', Key: 'podwire/other/a', Value: '' }]);
    await store.put('/podwire/shared/a', '');
    expect((await store.list('/podwire/shared/')).items).toHaveLength(1);
    await expect(store.list('/podwire/')).rejects.toMatchObject(denied);
  });

  it('are those of the token that is in the file now', async () => {
    const { store, tokenFile } = await withToken('expired');
    await expect(store.get('/podwire/a')).rejects.toMatchObject(denied);
    fs.writeFileSync(tokenFile, 'all');
    await store.put('/podwire/a', '');
  });

  it('are those of the new token for all calls that had the old one', async () => {
    const { made, store, tokenFile } = await withToken('all');
    await store.put('/podwire/a', '1');
    Reflect.deleteProperty(made.consul.options.tokens ?? {}, 'all');
    fs.writeFileSync(tokenFile, 'reader');
    // When the others are refused, the first of them has read the file.
    const reads = Array.from({ length: 5 }, () => store.get('/podwire/a'));
    expect((await Promise.all(reads)).map((item) => item?.value)).toEqual(['1', '1', '1', '1', '1']);
  });

  it('are not asked for when the file of the token is missing', async () => {
    const made = await bed({ tokens });
    expect(() => made.open({ tokenFile: '/nonexistent/token' })).toThrow(
      expect.objectContaining({ code: 'STORE_DENIED' }) as Error,
    );
  });
});

describe('watches', () => {
  it('are told of nothing that does not concern them', async () => {
    const made = await bed();
    const store = made.open();
    const watched = watch(store, '/a/');
    expect(await watched.next()).toMatchObject({ type: 'snapshot', items: [] });
    await store.put('/b/1', '');
    await store.put('/a/1', '');
    expect(await watched.next()).toMatchObject({ changes: [{ item: { key: '/a/1' } }] });
    watched.end();
  });

  it('go on without a word when the time of a request is up', async () => {
    const made = await bed({ random: () => 1 });
    const store = made.open();
    await store.put('/a/1', '');
    const watched = watch(store, '/a/');
    await watched.next();
    const waits = () => serverOf(made).requests.filter((each) => each.includes('index=')).length;
    const next = watched.next();
    await expect.poll(waits).toBe(1);
    // A sixteenth more than the 20 s that were asked for.
    made.clock.leap(21_250);
    await expect.poll(waits).toBe(2);
    await store.put('/a/2', '');
    expect(await next).toMatchObject({ changes: [{ item: { key: '/a/2' } }] });
    watched.end();
  });

  it('begin anew when indexes go backwards', async () => {
    const made = await bed();
    const store = made.open();
    await store.put('/a/1', 'old');
    const backup = made.consul.contents;
    await store.put('/a/1', 'new');
    await store.put('/a/2', 'new');
    const watched = watch(store, '/a/');
    await watched.next();
    made.consul.restore(backup);
    // Consul wakes no client up for an index that is smaller.
    const next = watched.next();
    const waits = () => serverOf(made).requests.filter((each) => each.includes('index=')).length;
    await expect.poll(waits).toBe(1);
    made.clock.leap(21_250);
    expect(await next).toMatchObject({ type: 'snapshot', items: [{ key: '/a/1', value: 'old' }] });
    await store.put('/a/1', 'newer');
    expect(await watched.next()).toMatchObject({ type: 'changes', changes: [{ item: { value: 'newer' } }] });
    watched.end();
  });

  it('have no news when Consul forgets a deletion', async () => {
    const made = await bed();
    const store = made.open();
    await store.put('/a/1', '');
    await store.put('/a/2', '');
    await store.delete('/a/2');
    const watched = watch(store, '/a/');
    await watched.next();
    made.consul.reapTombstones();
    const next = watched.next();
    const waits = () => serverOf(made).requests.filter((each) => each.includes('index=')).length;
    await expect.poll(waits).toBe(1);
    made.clock.leap(21_250);
    await expect.poll(waits).toBe(2);
    await store.put('/a/3', '');
    expect(await next).toMatchObject({ type: 'changes', changes: [{ item: { key: '/a/3' } }] });
    watched.end();
  });

  it('from a revision miss no deletion', async () => {
    const made = await bed();
    const store = made.open();
    await store.put('/a/1', '');
    await store.put('/a/2', '');
    const { revision } = await store.list('/a/');
    await store.delete('/a/1');
    const watched = watch(store, '/a/', { from: revision });
    expect(await watched.next()).toMatchObject({ type: 'snapshot', items: [{ key: '/a/2' }] });
    watched.end();
  });

  it('tell that they are cut off, and that they are back, once each', async () => {
    const made = await bed();
    const store = made.open();
    await store.put('/a/1', '');
    const log: string[] = [];
    const watched = watch(store, '/a/', { log });
    await watched.next();
    const { faults } = serverOf(made);
    const failure = { kind: 'answer', status: 500, text: 'No cluster leader' } as const;
    const failed = [faults.next('index=', failure), faults.next('index=', failure)];
    const next = watched.next();
    await Promise.all(failed);
    await store.put('/a/2', '');
    await next;
    expect(log).toEqual(['interrupted', 'recovered']);
    watched.end();
  });

  it('end with the store', async () => {
    const made = await bed();
    const store = made.open();
    const watched = watch(store, '/a/');
    await watched.next();
    const next = watched.next();
    await store.close();
    await expect(next).rejects.toThrow('the watch is over');
  });
});
