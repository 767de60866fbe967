import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  ask,
  assertBlocked,
  CommandError,
  pings,
  serveEcho,
  type TestNamespace,
  until,
} from '@podwire/testkit';
import {
  beyond,
  createFabric,
  type Fabric,
  type FabricNode,
  type FabricOptions,
  type FabricPod,
  families,
  type FamilyName,
} from './fabric-world.js';

const fabrics: readonly (FabricOptions & {
  /** By the number of the other node: what a pod of node 1 goes through to it. */
  readonly paths: Readonly<Record<number, 'direct' | 'tunnel' | 'none'>>;
})[] = [
  { name: 'direct', encapsulation: 'direct', paths: { 2: 'direct', 4: 'none' } },
  { name: 'vxlan', encapsulation: 'vxlan', paths: { 2: 'tunnel', 4: 'tunnel' } },
  { name: 'vxlan6', encapsulation: 'vxlan', underlay: ['ipv6'], paths: { 2: 'tunnel', 4: 'tunnel' } },
  { name: 'cross', encapsulation: 'vxlan-cross-subnet', paths: { 2: 'direct', 4: 'tunnel' } },
  {
    ...{ name: 'cross4', encapsulation: 'vxlan-cross-subnet', underlay: ['ipv4'] },
    paths: { 2: 'direct', 4: 'tunnel' },
  },
];

for (const { paths, ...options } of fabrics) {
  suite(`the fabric ${options.name}, with strict rp_filter`, () => {
    let fabric: Fabric;
    let here: FabricNode;
    let pod: FabricPod;
    const pods = new Map<number, FabricPod>();

    before(async () => {
      fabric = await createFabric(options);
      here = fabric.nodes[0]!;
      pod = await here.addPod();
      for (const number of [2, 4]) pods.set(number, await fabric.nodes[number - 1]!.addPod());
      await serve(pod.namespace, pod, 80);
      for (const [number, other] of pods) {
        await serve(other.namespace, other, 80);
        await serve(fabric.nodes[number - 1]!.host.namespace, fabric.nodes[number - 1]!, 81);
      }
      await serve(fabric.router, beyond, 82);
    });
    after(() => fabric.close());

    for (const family of families) {
      for (const number of [2, 4]) {
        const path = pathOf(options, paths, number, family);
        const there = (): FabricNode => fabric.nodes[number - 1]!;
        const other = (): FabricPod => pods.get(number)!;

        if (path === 'none') {
          test(`pods of node ${number} cannot be reached, ${family}`, async () => {
            const way = [here, there()].map((node) => ({
              namespace: node.host.namespace,
              address: node[family],
            }));
            await assertBlocked(pod.namespace, other().namespace, other()[family], way);
          });
          continue;
        }

        test(`pods reach each other with their own addresses, node ${number}, ${path}, ${family}`, async () => {
          const to = await ask(pod.namespace, 'tcp', other()[family], 80);
          assert.equal(to.peer.address, pod[family]);
          const back = await ask(other().namespace, 'tcp', pod[family], 80);
          assert.equal(back.peer.address, other()[family]);
          assert.ok(await pings(pod.namespace, other()[family]));
        });

        test(`full-size packets that may not be cut, node ${number}, ${path}, ${family}`, async () => {
          assert.ok(await pingsUncut(pod.namespace, other()[family], here.view.mtu));
          assert.equal(await pingsUncut(pod.namespace, other()[family], here.view.mtu + 1), false);
        });

        test(`a node reaches pods elsewhere, and they see the right one of its addresses, ${number}, ${family}`, async () => {
          const seen = await ask(here.host.namespace, 'tcp', other()[family], 80);
          assert.equal(seen.peer.address, path === 'tunnel' ? here.tunnel[family] : here[family]);
        });

        test(`a pod reaches the other node itself, ${number}, ${family}`, async () => {
          const seen = await ask(pod.namespace, 'tcp', there()[family], 81);
          assert.equal(seen.peer.address, here[family], 'outside the pools: masqueraded');
        });

        if (path === 'tunnel')
          test(`a program bound to the node's own address is answered, ${number}, ${family}`, async () => {
            const seen = await ask(here.host.namespace, 'tcp', other()[family], 80, { from: here[family] });
            assert.equal(seen.peer.address, here.tunnel[family]);
          });
      }

      test(`the world sees the node's address, ${family}`, async () => {
        const seen = await ask(pod.namespace, 'tcp', beyond[family], 82);
        assert.equal(seen.peer.address, here[family]);
      });
    }
  });
}

/** Without addresses of its family on the underlay a pool is never direct. */
function pathOf(
  { underlay = families, encapsulation }: FabricOptions,
  paths: Readonly<Record<number, 'direct' | 'tunnel' | 'none'>>,
  number: number,
  family: FamilyName,
): 'direct' | 'tunnel' | 'none' {
  const path = paths[number]!;
  if (path !== 'direct' || underlay.includes(family)) return path;
  return encapsulation === 'direct' ? 'none' : 'tunnel';
}

async function serve(
  namespace: TestNamespace,
  addresses: Readonly<Record<FamilyName, string>>,
  port: number,
): Promise<void> {
  for (const family of families) await serveEcho(namespace, 'tcp', addresses[family], port);
}

/** `size` counts the IP header. Sends again until an answer comes, or word that the packet is too long. */
async function pingsUncut(namespace: TestNamespace, address: string, size: number): Promise<boolean> {
  const payload = size - (address.includes(':') ? 48 : 28);
  const once = ['ping', '-n', '-c', '1', '-W', '2', '-M', 'do', '-s', String(payload), address];
  const attempt = async (): Promise<'answered' | 'too long'> => {
    try {
      await namespace.run(once);
      return 'answered';
    } catch (error) {
      if (error instanceof CommandError && /message too long/i.test(error.stdout + error.stderr))
        return 'too long';
      throw error;
    }
  };
  return (await until(`word from ${address}`, attempt)) === 'answered';
}
