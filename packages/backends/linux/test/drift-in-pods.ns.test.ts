import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PodwireError } from '@podwire/errors';
import {
  addAddressRequest,
  addNeighbourRequest,
  addRouteRequest,
  addRuleRequest,
  type NetlinkRequest,
} from '@podwire/netlink';
import type { PrivateHost } from '@podwire/testkit';
import { createLinuxBackends, type Kernel, openKernel } from '../src/index.js';
import type { Change, Engine, Owned } from '@podwire/engine';
import { call, createEngineHost, endpointOf, type EngineHost, node } from './fixture.js';

let bench: EngineHost;
let host: PrivateHost;
let engine: Engine;

before(async () => {
  bench = await createEngineHost('drift');
  ({ host, engine } = bench);
  await engine.apply(node, call());
});
after(async () => bench.close());

const withoutSuccess = (changes: readonly Change[]): Change[] =>
  changes.filter(({ action }) => action !== 'repaired');

/** With a default route of each family. */
function ordinaryPod(n: number): { pod: ReturnType<PrivateHost['addPod']>; owned: Owned } {
  const pod = host.addPod();
  const owned = endpointOf(pod, n);
  const route6 = { kind: 'route', in: 'pod', link: 'eth0', destination: '::/0', gateway: 'fe80::1' } as const;
  return { pod, owned: { ...owned, resources: [...owned.resources, route6] } };
}

test("a route that leads nowhere in the place of a pod's own is replaced", async () => {
  const { pod, owned } = ordinaryPod(1);
  await engine.apply(owned, call());
  await pod.ip('route replace unreachable default', 'route replace blackhole ::/0');
  assert.deepEqual(
    (await engine.verify(owned, call())).map(({ state, detail }) => `${state}: ${detail}`),
    [
      'changed: the route to 0.0.0.0/0 is unreachable (protocol 3)',
      'changed: the route to ::/0 is blackhole through link 1 (protocol 3)',
    ],
  );
  assert.deepEqual(withoutSuccess(await engine.reconcile([node, owned], call())), []);
  assert.deepEqual(await engine.verify(owned, call()), []);
  assert.match(await pod.run(['ip', 'route', 'show', 'default']), /^default via 169.254.1.1 dev eth0/);
  await engine.remove(owned, call());
});

test('a route through another link of the pod is left, and reported at every round', async () => {
  const { pod, owned } = ordinaryPod(2);
  await engine.apply(owned, call());
  await pod.ip('link add tunnel type ifb', 'link set tunnel up', 'route replace default dev tunnel');
  for (let round = 0; round < 2; round++) {
    const [change, ...others] = await engine.reconcile([node, owned], call());
    assert.deepEqual(others, []);
    assert.equal(change?.action, 'failed');
    assert.equal((change.error as PodwireError).code, 'POD_ROUTE_TAKEN');
  }
  assert.match(await pod.run(['ip', 'route', 'show', 'default']), /^default dev tunnel/);
  await pod.ip('route delete default');
  assert.deepEqual(withoutSuccess(await engine.reconcile([node, owned], call())), []);
  assert.match(await pod.run(['ip', 'route', 'show', 'default']), /^default via 169.254.1.1 dev eth0/);
  await engine.remove(owned, call());
});

test('a link that was renamed on the host is itself again after one round', async () => {
  const { pod, owned } = ordinaryPod(3);
  await engine.apply(owned, call());
  const index = await pod.run(['ip', '-o', 'link', 'show', 'eth0']);
  await host.namespace.ip('link set pwtest3 name stranger');
  assert.deepEqual(withoutSuccess(await engine.reconcile([node, owned], call())), []);
  assert.deepEqual(await engine.verify(owned, call()), []);
  assert.equal(await pod.run(['ip', '-o', 'link', 'show', 'eth0']), index);
  await engine.remove(owned, call());
});

test("a pod that has a veth of its own with the index of another pod's link does not get that", async () => {
  const { owned: victim } = ordinaryPod(4);
  const { pod, owned } = ordinaryPod(5);
  await engine.apply(victim, call());
  await engine.apply(owned, call());
  const [{ ifindex }] = JSON.parse(await host.run(['ip', '-j', 'link', 'show', 'pwtest4'])) as [
    { ifindex: number },
  ];
  const accomplice = host.addPod();
  await pod.ip('link delete eth0');
  await pod.ip(`link add eth0 type veth peer name other index ${ifindex} netns ${accomplice.name}`);
  await engine.reconcile([node, victim, owned], call());
  assert.deepEqual(await engine.verify(victim, call()), []);
  await engine.remove(victim, call());
  await engine.remove(owned, call());
});

/** A kernel that counts what is read of lists in pods. */
function countingKernel(kernel: Kernel): Kernel & { entries: number } {
  const counting = {
    ...kernel,
    entries: 0,
    enter(identity: Parameters<Kernel['enter']>[0]) {
      const namespace = kernel.enter(identity);
      const { route } = namespace;
      const counted: typeof route = {
        request: (requests) => route.request(requests),
        requestAsync: (requests, signal) => route.requestAsync(requests, signal),
        dump(request, limit) {
          const messages = route.dump(request, limit);
          counting.entries += messages.length;
          return messages;
        },
        portId: () => route.portId(),
        close: () => route.close(),
      };
      return { ...namespace, route: counted };
    },
  };
  return counting;
}

const times = (count: number, make: (high: number, low: number) => NetlinkRequest): NetlinkRequest[] =>
  Array.from({ length: count }, (_, n) => make(n >> 8, n & 255));

test('of what a pod has by the thousand only some is read, and it is repaired all the same', async () => {
  const { pod, owned } = ordinaryPod(6);
  await engine.apply(owned, call());
  const many = 6_000;
  const inPod = openKernel(pod);
  const link = 2;
  const mac = '02:00:00:00:00:01';
  for (const requests of [
    times(many, (a, b) => addRouteRequest({ destination: `10.77.${a}.${b}/32`, link })),
    times(many, (a, b) => addRouteRequest({ destination: `fd77::${a}:${b}/128`, link })),
    times(many, (a, b) => addNeighbourRequest({ address: `10.78.${a}.${b}`, link, mac })),
    times(many, (a, b) => addAddressRequest({ address: `10.79.${a}.${b}/32`, link })),
    times(many, (a, b) => addRuleRequest({ family: 4, priority: 2_000 + 256 * a + b, table: 7 })),
  ]) {
    inPod.host.route.request(requests);
  }
  inPod.close();

  const kernel = countingKernel(openKernel(host.namespace));
  const careful = bench.restart({ backends: createLinuxBackends(kernel) });
  await careful.verify(owned, call());
  const read = kernel.entries;
  assert.ok(read > 0 && read < many, `${read} entries`);
  await pod.ip('route replace unreachable default', 'route delete ::/0');
  assert.deepEqual(withoutSuccess(await careful.reconcile([node, owned], call())), []);
  assert.match(await pod.run(['ip', 'route', 'show', 'default']), /^default via 169.254.1.1 dev eth0/);
  assert.match(await pod.run(['ip', '-6', 'route', 'show', 'default']), /^default via fe80::1 dev eth0/);
  await engine.remove(owned, call());
});
