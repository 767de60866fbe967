/** Faults of etcd in use: a clear error each, and everything works again without a new process. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Store } from '@podwire/store';
import { until } from '@podwire/testkit';
import { createAuthority, type Etcd, startEtcd } from '@podwire/testkit/etcd';
import { startProxy } from './etcd-proxy.js';
import type { EtcdSpec } from '@podwire/store/etcd';
import { closeStores, eventually, failureOf, followStore, openStore } from './etcd-tools.js';

after(closeStores);

const impatient = { connect: 500, attempt: 700, call: 1_500 };
const member = (etcd: Etcd, index: number) => etcd.members[index] ?? assert.fail();

describe('one member', { timeout: 120_000 }, () => {
  let etcd: Etcd;
  let store: Store;
  before(async () => {
    etcd = await startEtcd();
    store = await openStore(etcd.spec, { timeouts: { ...impatient, silence: 5_000 } });
  });
  after(async () => {
    await store.close();
    await etcd.close();
  });

  test('killed: calls say so, nothing is uncertain, and all goes on when it is back', async () => {
    const follower = followStore(store, '/killed/');
    await store.put('/killed/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    await member(etcd, 0).kill9();
    await follower.until(({ interruptions }) => interruptions.length === 1);
    for (const work of [
      () => store.get('/killed/a'),
      () => store.put('/killed/a', '2'),
      () => store.delete('/killed/a'),
    ]) {
      const error = await failureOf(work(), 'STORE_UNAVAILABLE');
      assert.match(error.message, /ECONNREFUSED/);
      assert.equal(error.details['uncertain'], false);
    }
    await member(etcd, 0).start();
    await store.put('/killed/a', '3');
    await follower.until(({ values }) => values()['a'] === '3');
    assert.equal(
      follower.batches.filter(({ type }) => type === 'snapshot').length,
      1,
      'the rest is caught up with',
    );
    assert.equal(follower.interruptions.length, 1);
    await follower.end();
  });

  test('frozen: reads fail, writes are uncertain, and what was written comes to light', async () => {
    await store.put('/frozen/a', '1');
    member(etcd, 0).freeze();
    const works = [
      store.get('/frozen/a'),
      store.put('/frozen/a', '2'),
      store.put('/frozen/b', '1', { expect: 'absent' }),
    ];
    const errors = await Promise.all(works.map((work) => failureOf(work, 'STORE_UNAVAILABLE')));
    assert.deepEqual(
      errors.map(({ details }) => details['uncertain']),
      [false, true, true],
    );
    member(etcd, 0).thaw();
    assert.match((await eventually(() => store.get('/frozen/a')))?.value ?? '', /^[12]$/);
    await store.put('/frozen/a', '3');
    assert.equal((await store.get('/frozen/a'))?.value, '3');
  });

  test('frozen while it is asked again and again: connections that were given up are closed', async () => {
    const hasty = await openStore(etcd.spec, { timeouts: { connect: 200, attempt: 200, call: 300 } });
    await eventually(() => hasty.get('/frozen/a'));
    const before = countSockets(etcd.spec);
    member(etcd, 0).freeze();
    for (let asked = 0; asked < 10; asked += 1) await failureOf(hasty.get('/frozen/a'), 'STORE_UNAVAILABLE');
    // One that is being made may be there; those that were in use are given two seconds to be closed by the other side too.
    await until(
      'the connections that were given up to close',
      () => countSockets(etcd.spec) <= before + 1 || undefined,
    );
    member(etcd, 0).thaw();
    await eventually(() => hasty.get('/frozen/a'));
    await hasty.close();
  });

  test('frozen under a quiet watch: it is noticed without a call, and nothing is missed', async () => {
    const other = await openStore(etcd.spec);
    const follower = followStore(store, '/quiet/');
    await other.put('/quiet/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    member(etcd, 0).freeze();
    await follower.until(({ interruptions }) => interruptions.length === 1);
    member(etcd, 0).thaw();
    await eventually(() => other.put('/quiet/b', '2'));
    await follower.until(({ values }) => values()['b'] === '2');
    assert.equal(follower.interruptions.length, 1);
    await follower.end();
    await other.close();
  });

  test('slow: halted again and again, it does what was asked, once', async () => {
    const patient = await openStore(etcd.spec);
    let halts = 0;
    const halting = setInterval(() => {
      member(etcd, 0).freeze();
      halts += 1;
      setTimeout(() => member(etcd, 0).thaw(), 150);
    }, 200);
    let count = 0;
    try {
      let revision = await patient.put('/slow/counter', '0', { expect: 'absent' });
      while (halts < 8) {
        count += 1;
        revision = await patient.put('/slow/counter', String(count), { expect: revision });
      }
    } finally {
      clearInterval(halting);
    }
    assert.equal((await patient.get('/slow/counter'))?.value, String(count));
    await patient.close();
  });

  test('restored from older data: the watch gives a snapshot, and so does one that comes back later', async () => {
    const proxy = await startProxy(member(etcd, 0).endpoint);
    const cut = await openStore({ ...etcd.spec, endpoints: [proxy.endpoint] });
    await store.put('/restored/kept', '1');
    const backup = await etcd.backup();
    const followers = [followStore(store, '/restored/'), followStore(cut, '/restored/')];
    for (const value of ['1', '2', '3']) await store.put('/restored/lost', value);
    for (const follower of followers) await follower.until(({ values }) => values()['lost'] === '3');
    proxy.cut();
    await etcd.restore(backup);
    await followers[0]?.until(({ values }) => values()['lost'] === undefined);
    assert.deepEqual(followers[0]?.values(), { kept: '1' });
    // By now the revision is beyond the one at which the other watch lost contact.
    for (const value of ['1', '2', '3', '4', '5', '6', '7', '8']) await store.put('/restored/new', value);
    proxy.restore();
    await followers[1]?.until(({ values }) => values()['new'] === '8');
    assert.deepEqual(followers[1]?.values(), { kept: '1', new: '8' });
    for (const follower of followers) await follower.end();
    await cut.close();
    await proxy.close();
  });
});

test('full: writes say so, reads and deletions go on, and writes after it was made room', async (t) => {
  const etcd = await startEtcd({ quotaBytes: 8 * 1024 * 1024 });
  t.after(() => etcd.close());
  const store = await openStore(etcd.spec);
  const value = 'x'.repeat(1024 * 1024);
  let written = 0;
  const fill = async (): Promise<never> => {
    for (; ; written++) await store.put(`/full/${written}`, value);
  };
  const error = await failureOf(fill(), 'STORE_FULL');
  // etcd may have done the write that found it full.
  assert.equal(error.details['uncertain'], true);
  await failureOf(store.put('/full/small', '1', { expect: 'absent' }), 'STORE_FULL');
  const { items } = await store.list('/full/');
  assert.ok(
    items.length === written || items.length === written + 1,
    `${written} written, ${items.length} there`,
  );
  assert.ok(written > 3);
  for (const { key } of items) assert.equal(await store.delete(key), true);
  await etcd.compact();
  await etcd.control(['defrag']);
  await etcd.control(['alarm', 'disarm']);
  await store.put('/full/small', '1', { expect: 'absent' });
});

describe('three members', { timeout: 180_000 }, () => {
  let etcd: Etcd;
  before(async () => {
    etcd = await startEtcd({ members: 3 });
  });
  after(() => etcd.close());

  /** A store that talks to a member which leads, or which does not. */
  async function openTo(isLeader: boolean): Promise<{ readonly store: Store; readonly index: number }> {
    const leader = await etcd.leader();
    const index = etcd.members.findIndex((each) => (each === leader) === isLeader);
    const others = etcd.members.filter((_, at) => at !== index);
    const endpoints = [member(etcd, index), ...others].map(({ endpoint }) => endpoint);
    const store = await openStore(
      { ...etcd.spec, endpoints },
      { timeouts: { attempt: 1_500, silence: 5_000 } },
    );
    await store.get('/hello');
    return { store, index };
  }

  for (const isLeader of [false, true])
    for (const fault of ['killed', 'frozen'] as const)
      test(`the one we talk to is ${fault}, and it is ${isLeader ? '' : 'not '}the leader: others are asked`, async () => {
        const { store, index } = await openTo(isLeader);
        const folder = `/three/${fault}-${isLeader}/`;
        const follower = followStore(store, folder);
        await store.put(`${folder}a`, '1');
        await follower.until(({ values }) => values()['a'] === '1');
        if (fault === 'killed') await member(etcd, index).kill9();
        else member(etcd, index).freeze();
        assert.equal((await store.get(`${folder}a`))?.value, '1');
        await store.put(`${folder}b`, '2', { expect: 'absent' });
        await follower.until(({ values }) => values()['b'] === '2');
        if (fault === 'killed') await member(etcd, index).start();
        else member(etcd, index).thaw();
        await store.put(`${folder}c`, '3');
        await follower.until(({ values }) => values()['c'] === '3');
        assert.equal(follower.batches.filter(({ type }) => type === 'snapshot').length, 1);
        await follower.end();
        await store.close();
      });

  test('a write to a frozen member that cannot happen twice is done by another, and certain', async () => {
    const { store, index } = await openTo(false);
    member(etcd, index).freeze();
    const revision = await store.put('/three/guarded', '1', { expect: 'absent' });
    member(etcd, index).thaw();
    assert.equal((await store.get('/three/guarded'))?.revision, revision);
    await store.close();
  });

  test('no majority: calls and watches say that there is no leader, and go on when there is one', async () => {
    const { store, index } = await openTo(false);
    const others = etcd.members.filter((_, at) => at !== index);
    const follower = followStore(store, '/majority/');
    await store.put('/majority/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    await Promise.all(others.map((each) => each.kill9()));
    await follower.until(({ interruptions }) => interruptions.length > 0);
    const error = await failureOf(store.put('/majority/a', '2'), 'STORE_UNAVAILABLE');
    assert.match(error.message, /no leader/);
    assert.equal(error.details['uncertain'], false);
    await Promise.all(others.map((each) => each.start()));
    await eventually(() => store.put('/majority/b', '2'));
    await follower.until(({ values }) => values()['b'] === '2');
    await follower.end();
    await store.close();
  });
});

describe('who we are', { timeout: 120_000 }, () => {
  let etcd: Etcd;
  before(async () => {
    etcd = await startEtcd({ tls: true, auth: true });
  });
  after(() => etcd.close());

  test('a wrong password is refused and not logged, and the right one is read without a new process', async () => {
    const passwordFile = path.join(etcd.directory, 'other-password');
    fs.writeFileSync(passwordFile, 'not-the-password');
    const lines: unknown[] = [];
    const take = (...line: unknown[]): void => void lines.push(line);
    const store = await openStore(
      { ...etcd.spec, passwordFile },
      { log: { debug: take, info: take, warn: take, error: take } },
    );
    const follower = followStore(store, '/who/');
    await follower.until(({ interruptions }) => interruptions.length === 1);
    const error = await failureOf(store.put('/who/a', '1'), 'STORE_DENIED');
    assert.match(error.message, /user "podwire".*authentication failed/);
    fs.copyFileSync(etcd.spec.passwordFile ?? '', passwordFile);
    await store.put('/who/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    await follower.end();
    await store.close();
    assert.doesNotMatch(JSON.stringify(lines) + error.stack, /not-the-password|test-password/);
  });

  test('no user: refused', async () => {
    const { username: _user, passwordFile: _file, ...anonymous } = etcd.spec;
    const store = await openStore(anonymous);
    await failureOf(store.get('/who/a'), 'STORE_DENIED');
    await store.close();
  });

  test('rights that end below the watched folder: refused, until they are given', async () => {
    await etcd.control(['user', 'add', 'guest:guest']);
    await etcd.control(['role', 'add', 'guest']);
    await etcd.control(['user', 'grant-role', 'guest', 'guest']);
    const passwordFile = path.join(etcd.directory, 'guest');
    fs.writeFileSync(passwordFile, 'guest\n');
    const store = await openStore({ ...etcd.spec, username: 'guest', passwordFile });
    const follower = followStore(store, '/guest/');
    await follower.until(({ interruptions }) => interruptions.length === 1);
    await failureOf(store.put('/guest/a', '1'), 'STORE_DENIED');
    await etcd.control(['role', 'grant-permission', 'guest', '--prefix', 'readwrite', '/guest/']);
    await store.put('/guest/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    await follower.end();
    await store.close();
  });

  test('a token that the server does not know any more is renewed, for calls and watches', async () => {
    const store = await openStore(etcd.spec);
    const follower = followStore(store, '/token/');
    await store.put('/token/a', '1');
    await follower.until(({ values }) => values()['a'] === '1');
    // Tokens of this kind are in the server's memory.
    await member(etcd, 0).kill9();
    await member(etcd, 0).start();
    await store.put('/token/b', '2');
    await follower.until(({ values }) => values()['b'] === '2');
    await follower.end();
    await store.close();
  });

  test('a certificate of another user is refused, and the right one is read without a new process', async () => {
    const directory = path.join(etcd.directory, 'foreign');
    fs.mkdirSync(directory);
    const foreign = await createAuthority(directory);
    const wrong = await foreign.issue({ name: 'client' });
    const right = etcd.spec.tls ?? assert.fail();
    const store = await openStore({ ...etcd.spec, tls: { ca: right.ca, ...wrong } });
    await failureOf(store.get('/who/a'), 'STORE_DENIED');
    fs.copyFileSync(right.certificate, wrong.certificate);
    fs.copyFileSync(right.key, wrong.key);
    await store.get('/who/a');
    await store.close();
    const distrustful = await openStore({ ...etcd.spec, tls: { ...right, ca: foreign.ca } });
    await failureOf(distrustful.get('/who/a'), 'STORE_DENIED');
    await distrustful.close();
  });

  test('the server’s name is checked, and may be another than the address', async () => {
    const tls = etcd.spec.tls ?? assert.fail();
    const named = await openStore({ ...etcd.spec, tls: { ...tls, serverName: 'etcd.test' } });
    await named.get('/who/a');
    await named.close();
    const misnamed = await openStore({ ...etcd.spec, tls: { ...tls, serverName: 'other.test' } });
    await failureOf(misnamed.get('/who/a'), 'STORE_DENIED');
    await misnamed.close();
  });
});

/** TCP sockets of this process to the members. */
function countSockets({ endpoints }: EtcdSpec): number {
  const ports = new Set(endpoints.map((url) => Number(new URL(url).port)));
  const own = new Set(fs.readdirSync('/proc/self/fd').flatMap(readSocketInode));
  const rows = fs.readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n').slice(1);
  const isOurs = ([, , remote = '', , , , , , , inode = '']: readonly string[]): boolean =>
    own.has(inode) && ports.has(Number.parseInt(remote.split(':')[1] ?? '', 16));
  return rows.filter((row) => isOurs(row.trim().split(/\s+/))).length;
}

function readSocketInode(descriptor: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/self/fd/${descriptor}`))?.slice(1) ?? [];
  } catch {
    return []; // the one that listed them
  }
}
