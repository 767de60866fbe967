/** Waiting until a gateway answers ARP or neighbour discovery of the real kernel. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Owned, Resource } from '@podwire/engine';
import { readLink, readNeighbour, type NeighbourState } from '@podwire/netlink';
import { eventually, type TestNamespace } from '@podwire/testkit';
import { openKernel } from '../src/index.js';
import { call, createEngineHost, type EngineHost, identify } from './fixture.js';

const families = {
  IPv4: {
    ...{ gateway: '10.9.0.1', near: '10.9.0.1/24', own: '10.9.0.2/24' },
    ...{ question: 'arp operation request', length: 28 },
  },
  IPv6: {
    ...{ gateway: 'fd00:9::1', near: 'fd00:9::1/64', own: 'fd00:9::2/64' },
    // Of the gateway: the pod asks for its own addresses, too.
    question: 'icmpv6 type nd-neighbor-solicit @th,64,128 0xfd000009000000000000000000000001',
    length: 72,
  },
};

let bench: EngineHost;
let pod: TestNamespace;

before(async () => {
  bench = await createEngineHost('answers');
});
after(async () => bench?.close());

/** The node's end of the pod's link is of others, as a port of a switch is. */
beforeEach(async () => {
  pod = bench.host.addPod();
  await bench.host.namespace.ip(`link add pod0 type veth peer name eth0 netns ${pod.name}`);
});
afterEach(async () => {
  await bench.host.namespace.ip('link del pod0');
  await bench.host.namespace.run(['nft', 'flush', 'ruleset']);
});

const give = async (address: string): Promise<void> => {
  await bench.host.namespace.ip(`addr add ${address} dev pod0 nodad`);
};
const raise = async (): Promise<void> => {
  await bench.host.namespace.ip('link set pod0 up');
};

/** @param length in bytes, without the header of Ethernet */
async function dropFirst(packets: string, length: number): Promise<void> {
  const rule = `${packets} quota until ${1.5 * length} bytes drop`;
  const chain = `chain in { type filter hook ingress device pod0 priority 0; ${rule}\n}`;
  await bench.host.namespace.run(['nft', '-f', '-'], { input: `table netdev lost {\n${chain}\n}\n` });
}

function podOf({ gateway, own }: (typeof families)['IPv4'], timeout = 20_000): Owned {
  const resources: readonly Resource[] = [
    { kind: 'link-up', in: 'pod', link: 'eth0' },
    { kind: 'address', in: 'pod', link: 'eth0', address: own },
    { kind: 'neighbour-answers', in: 'pod', link: 'eth0', address: gateway, timeout },
  ];
  return { owner: 'ovn,c1,eth0', namespace: identify(pod), resources };
}

/** The entry of the gateway as the pod has it. */
function entryOf(address: string): { state?: NeighbourState; mac?: string; up: boolean } {
  const kernel = openKernel(pod);
  try {
    const { route } = kernel.host;
    const { index: link, up } = readLink(route, 'eth0')!;
    return { ...readNeighbour(route, { link, address }), up };
  } finally {
    kernel.close();
  }
}

for (const [family, addresses] of Object.entries(families)) {
  const { gateway, near, question, length } = addresses;
  describe(family, () => {
    test('a gateway that is there answers', async () => {
      await give(near);
      await raise();
      await bench.engine.apply(podOf(addresses), call());
      assert.equal(entryOf(gateway).state, 'reachable');
    });

    test('a question that is lost is asked again long before the kernel would', async () => {
      await give(near);
      await raise();
      await dropFirst(question, length);
      const later = `net.ipv${family.at(-1)}.neigh.eth0.retrans_time_ms=600000`;
      // Duplicate detection of the link-local address would take as long.
      await pod.run(['sysctl', '-qw', later, 'net.ipv6.conf.eth0.accept_dad=0']);
      await bench.engine.apply(podOf(addresses), call());
      assert.equal(entryOf(gateway).state, 'reachable');
    });

    test('a gateway whose link comes up later answers then', async () => {
      await give(near);
      const applied = bench.engine.apply(podOf(addresses), call());
      await eventually('eth0 is up', () => entryOf(gateway).up);
      await raise();
      await applied;
      assert.equal(entryOf(gateway).state, 'reachable');
    });

    test('a gateway that comes after the kernel has given up answers then', async () => {
      await raise();
      const applied = bench.engine.apply(podOf(addresses), call());
      await eventually('the kernel has given up', () => entryOf(gateway).state === 'failed');
      await give(near);
      await applied;
      assert.equal(entryOf(gateway).state, 'reachable');
    });

    test('a gateway that nothing has is silent', async () => {
      await raise();
      await assert.rejects(bench.engine.apply(podOf(addresses, 1_500), call()), {
        code: 'NEIGHBOUR_SILENT',
      });
    });

    test('a gateway that has left is silent, though it is still remembered', async () => {
      await give(near);
      await raise();
      await bench.engine.apply(podOf(addresses), call());
      await bench.host.namespace.ip(`addr del ${near} dev pod0`);
      const { mac } = entryOf(gateway);
      await pod.ip(`neigh replace ${gateway} lladdr ${mac} dev eth0 nud stale`);
      await assert.rejects(bench.engine.apply(podOf(addresses, 2_000), call()), {
        code: 'NEIGHBOUR_SILENT',
      });
    });
  });
}

test('with IPv6 a link without a link-local address says so', async () => {
  await give(families.IPv6.near);
  await raise();
  await pod.ip('link set eth0 addrgenmode none');
  await assert.rejects(bench.engine.apply(podOf(families.IPv6, 500), call()), {
    code: 'NEIGHBOUR_SILENT',
    message: /eth0 has no link-local address to ask from$/,
  });
});
