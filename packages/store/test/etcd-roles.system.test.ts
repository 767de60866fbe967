/** The role that docs/store.md gives to a node, on a real etcd with authentication: what it is enough for, and what it keeps a node from. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog, systemClock } from '@podwire/platform';
import { type Etcd, startEtcd } from '@podwire/testkit/etcd';
import { openStore, type Store, type Write } from '@podwire/store';

const repository = path.resolve(import.meta.dirname, '../../../..');
const password = 'test-node-password';

/** The commands of the page, for one node. */
function readCommands(node: string): string[][] {
  const page = fs.readFileSync(path.join(repository, 'docs/store.md'), 'utf8');
  const [, block = ''] = /### A user for each node[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
  return block
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('$NODE', node).split(' ').slice(1))
    .map((words) =>
      words[1] === 'add' && words[0] === 'user' ? [...words.slice(0, 2), `${words[2]}:${password}`] : words,
    );
}

let etcd: Etcd;
let store: Store;
before(async () => {
  etcd = await startEtcd({ auth: true });
  for (const command of readCommands('n1')) await etcd.control(command);
  const passwordFile = path.join(etcd.directory, 'node-password');
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  const spec = {
    kind: 'etcd',
    endpoints: [...etcd.spec.endpoints],
    username: 'podwire-n1',
    passwordFile,
  } as const;
  store = await openStore(spec, { log: silentLog, clock: systemClock });
});
after(async () => {
  await store?.close();
  await etcd?.close();
});

const put = (key: string): Write => ({ op: 'put', key: `/podwire/${key}`, value: '{}' });

test('it is enough for what a node does', async () => {
  const lease = await store.grantLease(5_000);
  const registered = await store.transact({
    conditions: [
      { key: '/podwire/presences/n1', expect: 'absent' },
      { key: '/podwire/shared/nodes/n1', expect: 'absent' },
    ],
    writes: [
      { ...put('presences/n1'), lease: lease.id } as Write,
      { op: 'delete', key: '/podwire/absences/n1' },
      put('shared/nodes/n1'),
    ],
  });
  assert.ok(registered.committed);
  await etcd.control(['put', '/podwire/shared/pools/p', '{}']);
  const pool = await store.get('/podwire/shared/pools/p');
  const claimed = await store.transact({
    conditions: [
      { key: '/podwire/shared/blocks/10.0.0.0-26', expect: 'absent' },
      { key: '/podwire/shared/pools/p', expect: pool!.revision },
      { key: '/podwire/presences/n1', expect: registered.revision },
    ],
    writes: [put('shared/blocks/10.0.0.0-26')],
  });
  assert.ok(claimed.committed);
  for (const key of [
    'ledgers/10.0.0.0-26/n1',
    'shared/loan-requests/10.0.0.0-26/n1/x',
    'shared/workloads/d/s/w',
    'pod-facts/n1/default/web',
    'policy-status/n1',
  ])
    await store.put(`/podwire/${key}`, '{}');
  const ended = new AbortController();
  for await (const batch of store.watch('/podwire/shared/', { signal: ended.signal })) {
    assert.ok(batch.type === 'snapshot' && batch.items.length >= 5);
    break;
  }
  await etcd.control(['put', '/podwire/objects/core/Namespace/_/shop', '{}']);
  await etcd.control(['put', '/podwire/pod-facts/n2/default/web', '{}']);
  assert.equal((await store.list('/podwire/objects/')).items.length, 1);
  assert.equal((await store.list('/podwire/pod-facts/')).items.length, 2);
  for await (const batch of store.watch('/podwire/presences/', { signal: ended.signal })) {
    assert.ok(batch.type === 'snapshot' && batch.items.length === 1);
    break;
  }
  ended.abort();
  await lease.keepAlive();
  await lease.revoke();
  assert.equal(await store.get('/podwire/presences/n1'), undefined);
});

for (const key of [
  'presences/n2',
  'presences/n11',
  'absences/n2',
  'shared/nodes/n2',
  'shared/nodes/n11',
  'shared/pools/p',
  'pools-generation',
  'sdn-generation',
  'leader',
  'objects/core/Namespace/_/shop',
  'pod-facts/n2/default/web',
  'policy-status/n2',
]) {
  test(`it does not let a node write ${key}`, async () => {
    await assert.rejects(store.put(`/podwire/${key}`, '{}'), { code: 'STORE_DENIED' });
    await assert.rejects(store.delete(`/podwire/${key}`), { code: 'STORE_DENIED' });
  });
}
