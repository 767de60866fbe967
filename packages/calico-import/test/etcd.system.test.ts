/** A datastore of Calico in a real etcd, dumped with Debian's etcdctl, into a store in the same etcd. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyImport, planImport, readCalicoDump, readImportState } from '@podwire/calico-import';
import { keysBelow } from '@podwire/cluster-state';
import { checkCluster, readCluster } from '@podwire/cluster-ipam/operations';
import { silentLog, systemClock } from '@podwire/platform';
import { openStore, type Store } from '@podwire/store';
import { type Etcd, startEtcd } from '@podwire/testkit/etcd';
import { etcdAffinity, etcdBlock, etcdHandle, etcdPool, type Pairs } from './support/calico.js';

const { signal } = new AbortController();
const keys = keysBelow('/podwire');

const nodes = ['node-1', 'node-2', 'node-3'];

/** Twelve blocks of three nodes, each with four pods and a tunnel; one address of each first block is borrowed. */
function makeDatastore(): Pairs {
  const blocks = Array.from({ length: 12 }, (_, at) => {
    const node = nodes[at % 3] ?? '';
    const cidr = at % 2 === 0 ? `10.0.${at}.0/26` : `fd00:0:0:${at.toString(16)}::/122`;
    const pods = Array.from({ length: 4 }, (_each, ordinal) => ({
      ordinal: 10 + ordinal,
      handle: `k8s-pod-network.${at}-${ordinal}`,
      node: at < 3 && ordinal === 0 ? (nodes[(at + 1) % 3] ?? '') : node,
      pod: `default/pod-${at}-${ordinal}`,
    }));
    const tunnel = {
      ordinal: 0,
      handle: `vxlan-tunnel-addr-${node}`,
      node,
      more: { type: 'vxlanTunnelAddress' },
    };
    const handles = pods.flatMap(({ handle }) => etcdHandle(handle, { [cidr]: 1 }));
    return [...etcdBlock(cidr, `host:${node}`, [...pods, tunnel]), ...etcdAffinity(node, cidr), ...handles];
  });
  return [
    ...etcdPool('ipv4', '10.0.0.0/16', { ipipMode: 'Always', natOutgoing: true }),
    ...etcdPool('ipv6', 'fd00::/48', { vxlanMode: 'CrossSubnet' }),
    ['/calico/ipam/v2/config', JSON.stringify({ strict_affinity: false, auto_allocate_blocks: true })],
    ...blocks.flat(),
    ['/calico/felix/v2/no-region/host/node-1/status', '{"uptime":1.5}'],
  ];
}

describe('a datastore of Calico in etcd', () => {
  let etcd: Etcd;
  let store: Store;

  before(async () => {
    etcd = await startEtcd();
    for (const [key, value] of makeDatastore()) await etcd.control(['put', key, value]);
    store = await openStore(etcd.spec, { log: silentLog, clock: systemClock });
  });

  after(async () => {
    await store.close();
    await etcd.close();
  });

  const planFor = async (...texts: readonly string[]) =>
    planImport(
      readCalicoDump(texts.map((text, at) => ({ name: `dump ${at}`, text }))),
      await readImportState(store, keys, signal),
      { network: 'default' },
    );

  it('is the same, however etcdctl has printed it', async () => {
    const plain = await planFor(await etcd.control(['get', '--prefix', '/calico/']));
    const json = await planFor(await etcd.control(['get', '--prefix', '/calico/', '-w', 'json']));
    assert.deepEqual(json, plain);
    assert.equal(plain.blocks.length, 12);
    const cut = await planFor(
      await etcd.control(['get', '--prefix', '/calico/', '-w', 'json', '--limit', '5']),
    );
    assert.match(JSON.stringify(cut.diagnostics), /the last page is missing/);
  });

  it('is taken over, and nothing of it is found wrong afterwards', async () => {
    const plan = await planFor(await etcd.control(['get', '--prefix', '/calico/', '-w', 'json']));
    assert.equal(await applyImport(plan, { store, clock: systemClock, signal }), 2 + 12 + 12 + 3);
    const access = { store, keys, clock: systemClock };
    const { pools, blocks, allocationRecords, unreadable } = await readCluster(access, signal);
    assert.deepEqual(unreadable, []);
    assert.deepEqual(
      [...pools.values()].map(({ value }) => [value.name, value.encapsulation, value.natOutgoing]),
      [
        ['ipv4', 'vxlan', true],
        ['ipv6', 'vxlan-cross-subnet', false],
      ],
    );
    assert.equal(blocks.size, 12);
    const loans = [...blocks.values()].flatMap(({ value }) => value.loans);
    assert.deepEqual(new Set(loans.map(({ node }) => node)), new Set(nodes));
    const addresses = allocationRecords.flatMap(({ value }) => value.entries.map(({ address }) => address));
    assert.equal(new Set(addresses).size, 48);
    const { problems } = await checkCluster(access, { settle: 10 }, signal);
    const wrong = problems.filter(
      ({ kind }) => kind === 'doubled' || kind === 'outside' || kind === 'unreadable',
    );
    assert.deepEqual(wrong, []);
  });

  it('is taken over once', async () => {
    const plan = await planFor(await etcd.control(['get', '--prefix', '/calico/', '-w', 'json']));
    assert.deepEqual(plan.creations, []);
    assert.equal(plan.present, 29);
  });
});
