import { ClusterMemory, type FollowOptions } from '@podwire/cluster-ovn';
import { keysBelow, type Node, nodeKind, ovnPodKind } from '@podwire/cluster-state';
import { checkObject, encodeStoredObject, type KeyWrite, objectKey } from '@podwire/objects';
import { encodeObject } from '@podwire/store';
import { createMemoryServer, type MemoryFaults } from '@podwire/store/memory';
import { afterEach, describe, expect, it } from 'vitest';

const keys = keysBelow('/podwire');
const apiVersion = 'kubeovn.io/v1';

const keyOf = (kind: string, name: string): string => objectKey(keys.root, { apiVersion, kind, name });

function textOf(kind: string, name: string, rest: Readonly<Record<string, unknown>>): string {
  const checked = checkObject({ apiVersion, kind, metadata: { name }, ...rest }, { keepStatus: true });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return encodeStoredObject(checked.object, undefined, 0);
}

const subnet = (cidrBlock: string, rest = {}) => textOf('Subnet', 'blue', { spec: { cidrBlock }, ...rest });

const ip = (ipAddress: string) =>
  textOf('IP', 'web.shop', {
    spec: { podName: 'web', namespace: 'shop', subnet: 'blue', ipAddress, macAddress: '00:00:00:00:00:01' },
  });

const pod = (uid: string) =>
  encodeObject(ovnPodKind, { namespace: 'shop', name: 'web', uid, annotations: {} });

const node = (ipv4: string, rest: Partial<Node> = {}) => {
  const fixed = { instance: 'n1-1', version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 };
  return encodeObject(nodeKind, { ...fixed, name: 'n1', addresses: { ipv4 }, ...rest });
};

/** Of changes that no planner has to do with. */
const nothing = { pods: new Map(), ips: new Map(), providers: new Map() };

const podKey = keys.ovnPod('shop', 'web');
const running = new Set<() => Promise<void>>();
afterEach(async () => {
  for (const stop of running) await stop();
  running.clear();
});

/** A memory of a store, which another program writes. */
async function createMemory(items: Readonly<Record<string, string>> = {}) {
  const server = createMemoryServer();
  const faults: MemoryFaults = {};
  const [store, other] = [server.connect(faults), server.connect()];
  for (const [key, value] of Object.entries(items)) await other.put(key, value);
  const memory = new ClusterMemory({ store, keys, clock: { now: () => 7 } });
  const signal = new AbortController().signal;
  await memory.list(signal);
  return { memory, other, server, faults, ...follow(memory) };
}

function follow(memory: ClusterMemory) {
  const stopped = new AbortController();
  let heard = (): void => undefined;
  const options: FollowOptions = { onChange: () => heard(), onError: () => heard() };
  const ended = memory.follow(options, stopped.signal);
  running.add(async () => {
    stopped.abort();
    await ended;
  });
  return { heardOf: () => new Promise<void>((resolve) => (heard = resolve)) };
}

const put = (key: string, value: string): KeyWrite => ({
  condition: { key, expect: 'absent' },
  write: { op: 'put', key, value },
});

const remove = (key: string): KeyWrite => ({
  condition: { key, expect: 'absent' },
  write: { op: 'delete', key },
});

describe('a memory of a cluster', () => {
  it('knows a subnet before the pods that came after it', async () => {
    const { memory, other, heardOf } = await createMemory();
    for (const name of ['blue', 'red', 'green']) {
      const heard = heardOf();
      await other.put(keyOf('Subnet', name), textOf('Subnet', name, { spec: { cidrBlock: '10.17.0.0/24' } }));
      await other.put(
        keys.ovnPod('shop', name),
        encodeObject(ovnPodKind, { namespace: 'shop', name, uid: '1', annotations: {} }),
      );
      await heard;
      const { objects, pods } = memory.view();
      const subnets = objects.subnets.map(({ object }) => object.metadata.name);
      expect(pods.filter((each) => !subnets.includes(each.name))).toEqual([]);
    }
  });

  it('knows pods whose nodes are gone, but for those that an API server has', async () => {
    const record = (name: string, at: object) =>
      encodeObject(ovnPodKind, { namespace: 'shop', name, uid: '1', annotations: {}, ...at });
    const { memory } = await createMemory({
      [keys.node('n1')]: node('192.0.2.1/24'),
      [keys.ovnPod('shop', 'here')]: record('here', { node: 'n1' }),
      [keys.ovnPod('shop', 'gone')]: record('gone', { node: 'n9' }),
      [keys.ovnPod('shop', 'nowhere')]: record('nowhere', {}),
      [keys.ovnPod('shop', 'known')]: record('known', { node: 'n9', source: 'kubernetes' }),
      [keys.ovnPod('shop', 'spoilt')]: 'no record',
    });
    expect(memory.listStranded().map(({ key }) => key)).toEqual([keys.ovnPod('shop', 'gone')]);
    const names = memory.listPodRecords().map(({ record: { name } }) => name);
    expect(names).toEqual(['gone', 'here', 'known', 'nowhere']);
    const ids = ['shop/spoilt', 'shop/here', 'shop/other'];
    expect(ids.filter((id) => memory.hasUnreadablePod(id))).toEqual(['shop/spoilt']);
  });

  it('has what was listed, and what is reported later', async () => {
    const { memory, other, heardOf } = await createMemory({
      ...{ [keyOf('Subnet', 'blue')]: subnet('10.17.0.0/24'), [keys.node('n1')]: node('192.0.2.1/24') },
      [keys.nodeLease('n1')]: 'any text',
    });
    expect(memory.view()).toMatchObject({
      objects: { subnets: [{ object: { metadata: { name: 'blue' } } }], ips: [], unreadable: [] },
      nodes: [{ name: 'n1', addresses: ['192.0.2.1'], isReachable: true }],
      ...{ pods: [], unreadablePods: [], now: 7 },
    });
    const heard = heardOf();
    await other.put(podKey, pod('u1'));
    await heard;
    expect(memory.view().pods).toMatchObject([
      { namespace: 'shop', name: 'web', uid: 'u1', hasEnded: false },
    ]);
    expect(memory.takeChanges()?.pods.get('shop/web')).toMatchObject({ uid: 'u1' });
    expect(memory.takeChanges()).toEqual(nothing);
  });

  it('names what cannot be read', async () => {
    const { memory } = await createMemory({ [podKey]: 'no JSON', [keyOf('IP', 'web.shop')]: 'no JSON' });
    const { objects, pods, unreadablePods } = memory.view();
    expect({ pods, unreadablePods }).toEqual({
      ...{ pods: [], unreadablePods: [{ namespace: 'shop', name: 'web' }] },
    });
    expect(objects.unreadable).toMatchObject([{ reference: { kind: 'IP', name: 'web.shop' } }]);
  });

  it('has own writes before they are reported, and hears nothing new of them then', async () => {
    const { memory, other, server, heardOf } = await createMemory();
    const written = await other.put(podKey, pod('u1'));
    memory.note([put(podKey, pod('u1'))], written);
    expect(memory.generation).toBe(written);
    expect(memory.podRecord('shop/web')).toMatchObject({ key: podKey, revision: written });
    const heard = heardOf();
    await other.put(keys.ovnPod('shop', 'db'), 'no JSON');
    await heard;
    expect([...memory.takeChanges()!.pods.keys()]).toEqual(['shop/web', 'shop/db']);
    expect(server.revision).toBeGreaterThan(written);
  });

  it('does not bring back by an older report what was deleted, and takes what comes later', async () => {
    const { memory, other, heardOf } = await createMemory();
    await other.put(podKey, pod('u1'));
    await other.delete(podKey);
    // The reports are on their way.
    memory.note([remove(podKey)], 2);
    const heard = heardOf();
    await other.put(keys.ovnPod('shop', 'db'), 'no JSON');
    await heard;
    expect(memory.podRecord('shop/web')).toBeUndefined();
    expect([...memory.takeChanges()!.pods.keys()]).toEqual(['shop/db']);
    const again = heardOf();
    await other.put(podKey, pod('u2'));
    await again;
    expect(memory.podRecord('shop/web')?.record.uid).toBe('u2');
  });

  it('is lost when the store has forgotten what came in between, and is found by another list', async () => {
    const { memory, other, server, faults, heardOf } = await createMemory();
    faults.decide = ({ operation }) => (operation === 'watch' ? 'unavailable' : undefined);
    faults.pause = 1;
    const heard = heardOf();
    await other.put(podKey, pod('u1'));
    server.compact();
    delete faults.decide;
    await other.put(podKey, pod('u2'));
    await heard;
    expect(memory.isLost).toBe(true);
  });
});

describe('changes', () => {
  const changesOf = async (before: Record<string, string>, ...writes: KeyWrite[]) => {
    const { memory } = await createMemory(before);
    for (const [at, write] of writes.entries()) memory.note([write], 1_000 + at);
    return memory.takeChanges();
  };
  const key = keyOf('Subnet', 'blue');

  it('are those of pods and IP objects', async () => {
    const ipKey = keyOf('IP', 'web.shop');
    const changes = await changesOf(
      { [podKey]: pod('u1') },
      put(podKey, 'no JSON'),
      put(ipKey, ip('10.17.0.2')),
    );
    expect(changes?.pods).toEqual(new Map([['shop/web', 'unreadable']]));
    expect(changes?.ips.get('web.shop')).toMatchObject({ revision: 1_001 });
    const gone = await changesOf(
      { [ipKey]: ip('10.17.0.2') },
      remove(ipKey),
      put(podKey, pod('u1')),
      remove(podKey),
    );
    expect(gone).toEqual({ ...nothing, ips: new Map([['web.shop', undefined]]) });
  });

  it('are those of ProviderNetworks that a node says', async () => {
    const saying = (state: string) =>
      node('192.0.2.1/24', {
        facts: { ovn: { 'provider-network/net1': state, other: 'x' }, sdn: { mode: 'a' } },
      });
    const changes = await changesOf(
      { [keys.node('n1')]: saying('no interface') },
      put(keys.node('n1'), saying('ready')),
    );
    expect(changes).toEqual({ ...nothing, providers: new Map([['n1', { net1: 'ready' }]]) });
  });

  it.each<[string, Record<string, string>, KeyWrite]>([
    ['a subnet that comes', {}, put(key, subnet('10.17.0.0/24'))],
    ['a subnet that changes', { [key]: subnet('10.17.0.0/24') }, put(key, subnet('10.18.0.0/24'))],
    ['an unreadable one that goes', { [key]: 'no JSON' }, remove(key)],
    ['an IP object that cannot be read', {}, put(keyOf('IP', 'web.shop'), 'no JSON')],
    [
      'a node of other addresses',
      { [keys.node('n1')]: node('192.0.2.1/24') },
      put(keys.node('n1'), node('192.0.2.2/24')),
    ],
    ['a node that is not connected', { [keys.nodeLease('n1')]: 'any' }, remove(keys.nodeLease('n1'))],
  ])('of %s are for a whole plan', async (_, before, write) => {
    expect(await changesOf(before, write)).toBeUndefined();
  });

  it.each<[string, Record<string, string>, KeyWrite]>([
    [
      'the status of a subnet',
      { [key]: subnet('10.17.0.0/24') },
      put(key, subnet('10.17.0.0/24', { status: { activateGateway: 'n1', conditions: [] } })),
    ],
    [
      'a node that says the same',
      { [keys.node('n1')]: node('192.0.2.1/24') },
      put(keys.node('n1'), node('192.0.2.1/24')),
    ],
  ])('of %s are none', async (_, before, write) => {
    expect(await changesOf(before, write)).toEqual(nothing);
  });
});
