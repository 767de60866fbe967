import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PodwireError } from '@podwire/errors';
import { assertSameSnapshot, type PrivateHost, takeSnapshot } from '@podwire/testkit';
import { describeResource } from '../src/index.js';
import type { Engine, Owned, ResourceSpan } from '@podwire/engine';
import { call, createEngineHost, endpointOf, type EngineHost, node } from './fixture.js';

let bench: EngineHost;
let host: PrivateHost;
let engine: Engine;

before(async () => {
  bench = await createEngineHost('engine');
  ({ host, engine } = bench);
  await engine.apply(node, call());
});
after(async () => bench.close());

const picture = async () => takeSnapshot(host.namespace);

async function removeAndSettle(owned: Owned): Promise<void> {
  await engine.remove(owned, call());
  await engine.settle();
}

async function refused(work: Promise<unknown>, code: PodwireError['code'], words: RegExp): Promise<void> {
  await assert.rejects(work, (error: PodwireError) => {
    assert.equal(error.code, code);
    assert.match(error.message, words);
    return true;
  });
}

test('makes every kind of resource, finds no drift, and leaves nothing', async () => {
  const before = await picture();
  const pod = host.addPod();
  const owned = endpointOf(pod, 1);
  await engine.apply(owned, call());

  assert.deepEqual(await engine.verify(owned, call()), []);
  const [link] = JSON.parse(await host.run(['ip', '-j', '-d', 'link', 'show', 'pwtest1'])) as [object];
  assert.match(JSON.stringify(link), /"ee:ee:ee:ee:ee:ee".*"info_kind":"veth"/);
  assert.match(await pod.run(['ip', 'route']), /default via 169\.254\.1\.1 dev eth0/);
  assert.match(
    await host.run(['nft', 'list', 'map', 'inet', 'podwire', 'ports']),
    /udp \. 5001 : 10\.9\.0\.1 \. 53/,
  );
  assert.match(
    await host.run(['tc', 'filter', 'show', 'dev', 'pwtest1', 'ingress']),
    /Redirect to device pwshape1/,
  );

  await removeAndSettle(owned);
  assertSameSnapshot(before, await picture());
});

test('takes the name and the interface away before the link is dead', async () => {
  const pod = host.addPod();
  const owned = endpointOf(pod, 2);
  await engine.apply(owned, call());
  await engine.remove(owned, call());

  assert.doesNotMatch(await pod.run(['ip', '-br', 'link']), /eth0/);
  assert.doesNotMatch(await host.run(['ip', 'route']), /10\.9\.0\.2/);
  await engine.apply(owned, call()); // the very same names, at once
  assert.deepEqual(await engine.verify(owned, call()), []);
  await removeAndSettle(owned);
});

test('takes over what is there already and agrees', async () => {
  const pod = host.addPod();
  const owned = endpointOf(pod, 3);
  await engine.apply(owned, call());
  await engine.apply(owned, call());
  assert.deepEqual(await engine.verify(owned, call()), []);
  await removeAndSettle(owned);
});

test('refuses to take foreign things, and rolls back what it had made', async () => {
  await host.namespace.ip(
    'link add foreign type ifb',
    // Its own link-local address would have a route a moment later.
    'link set foreign addrgenmode none',
    'link set foreign up',
    'route add 10.9.0.4/32 dev foreign',
  );
  const before = await picture();
  const owned = endpointOf(host.addPod(), 4);
  await refused(engine.apply(owned, call()), 'KERNEL_REFUSED', /route 10\.9\.0\.4\/32 dev pwtest4.*EEXIST/);
  await engine.settle();
  assertSameSnapshot(before, await picture());

  await removeAndSettle(owned); // as a crash would make it: the whole list, applied or not
  assertSameSnapshot(before, await picture());
  await host.namespace.ip('link delete foreign');
});

test('leaves a link of the same name alone that is not its own', async () => {
  await host.namespace.ip('link add pwtest5 type ifb');
  const pod = host.addPod();
  await pod.ip('link add eth0 type ifb');
  const before = await picture();
  const owned = endpointOf(pod, 5);
  await refused(engine.apply(owned, call()), 'KERNEL_REFUSED', /veth pwtest5.*EEXIST/);
  await removeAndSettle(owned);
  assertSameSnapshot(before, await picture());
  assert.match(await pod.run(['ip', '-br', 'link']), /eth0/);
  await host.namespace.ip('link delete pwtest5');
});

test('gives up between two steps when the deadline has passed, and leaves nothing', async () => {
  const before = await picture();
  const controller = new AbortController();
  const trace = ({ batch }: ResourceSpan): void => {
    if (batch === 1) controller.abort(new Error('too slow'));
  };
  const applying = engine.apply(endpointOf(host.addPod(), 6), { signal: controller.signal, trace });
  await refused(applying, 'DEADLINE_EXCEEDED', /given up before/);
  await engine.settle();
  assertSameSnapshot(before, await picture());
});

test('cleans the host side when the namespace is gone', async () => {
  const before = await picture();
  const pod = host.addPod();
  const owned = endpointOf(pod, 7);
  await engine.apply(owned, call());
  host.removePod(pod);
  await removeAndSettle(owned);
  assertSameSnapshot(before, await picture());
});

test('never touches another namespace that has taken the path', async () => {
  const pod = host.addPod();
  const { namespace, ...owned } = endpointOf(pod, 8);
  const other = { ...owned, namespace: { ...namespace!, inode: namespace!.inode + 1 } };
  await refused(engine.apply(other, call()), 'NAMESPACE_GONE', /another namespace has taken its path/);
});

test('says what is missing and what has changed', async () => {
  const pod = host.addPod();
  const owned = endpointOf(pod, 9);
  await engine.apply(owned, call());
  await host.namespace.ip('route delete 10.9.0.9/32');
  await host.run(['sysctl', '-qw', 'net.ipv4.conf.pwtest9.route_localnet=0']);
  await host.run([
    'tc',
    'qdisc',
    'change',
    'dev',
    'pwtest9',
    'root',
    'tbf',
    'rate',
    '1mbit',
    'burst',
    '20000',
    'limit',
    '60000',
  ]);
  await host.run(['nft', 'delete', 'element', 'inet', 'podwire', 'ports', '{ udp . 5009 }']);
  await pod.ip('address delete fd00:9::9/128 dev eth0', 'neighbour delete 169.254.1.1 dev eth0');

  const drifts = await engine.verify(owned, call());
  assert.deepEqual(drifts.map(({ state, resource }) => `${state} ${resource.kind}`).sort(), [
    'changed sysctl',
    'changed token-bucket',
    'missing address',
    'missing neighbour',
    'missing nft-element',
    'missing route',
  ]);

  const changes = await engine.reconcile([node, owned], call());
  assert.deepEqual(
    changes.filter(({ action }) => action !== 'repaired'),
    [],
  );
  assert.equal(changes.length, 6);
  assert.deepEqual(await engine.verify(owned, call()), []);
  await removeAndSettle(owned);
});

test('makes a whole endpoint anew when its link is gone', async () => {
  const pod = host.addPod();
  const owned = endpointOf(pod, 10);
  await engine.apply(owned, call());
  await pod.ip('link set eth0 down', 'link set eth0 name stolen');
  const changes = await engine.reconcile([node, owned], call());
  assert.deepEqual(
    changes.filter(({ action }) => action === 'failed'),
    [],
  );
  assert.deepEqual(await engine.verify(owned, call()), []);
  await host.namespace.ip('link delete pwtest10');
  await engine.reconcile([node, owned], call());
  assert.deepEqual(await engine.verify(owned, call()), []);
  await removeAndSettle(owned);
});

test('redirects to the new ifb alone when the ifb was deleted', async () => {
  const owned = endpointOf(host.addPod(), 14);
  await engine.apply(owned, call());
  await host.namespace.ip('link delete pwshape14');
  const changes = await engine.reconcile([node, owned], call());
  assert.deepEqual(
    changes.filter(({ action }) => action === 'failed'),
    [],
  );
  const filters = await host.namespace.run(['tc', 'filter', 'show', 'dev', 'pwtest14', 'ingress']);
  assert.deepEqual(filters.match(/device \S+/g), ['device pwshape14)']);
  assert.deepEqual(await engine.verify(owned, call()), []);
  await removeAndSettle(owned);
});

test('prunes what carries its mark and has no owner, and nothing else', async () => {
  await host.namespace.ip(
    'link add foreign type ifb',
    'link set foreign addrgenmode none',
    'link set foreign up',
    'route add 10.77.0.1/32 dev foreign',
  );
  const before = await picture();
  await engine.apply(endpointOf(host.addPod(), 11), call());
  const changes = await bench.restart().reconcile([node], call());
  assert.ok(
    changes.every(({ action }) => action === 'removed'),
    JSON.stringify(changes),
  );
  await engine.settle();
  assertSameSnapshot(before, await picture());
  await host.namespace.ip('link delete foreign');
});

test('finds nothing to do on a host that is as it should be', async () => {
  const owned = [12, 13].map((n) => endpointOf(host.addPod(), n));
  for (const one of owned) await engine.apply(one, call());
  assert.deepEqual(await engine.reconcile([node, ...owned], call()), []);
  for (const one of owned) await removeAndSettle(one);
});

test('traces every resource once, and joins those that travel together', async () => {
  const spans: ResourceSpan[] = [];
  const owned = endpointOf(host.addPod(), 14);
  await engine.apply(owned, { ...call(), trace: (span) => void spans.push(span) });
  assert.deepEqual(
    spans.map(({ resource }) => describeResource(resource)),
    owned.resources.map(describeResource),
  );
  assert.ok(new Set(spans.map(({ batch }) => batch)).size < spans.length / 2);
  await removeAndSettle(owned);
});
