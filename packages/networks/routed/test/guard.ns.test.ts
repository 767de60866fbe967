import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, suite, test } from 'node:test';
import {
  assertArrives,
  assertBlocked,
  assertPasses,
  type Hop,
  nativeProgram,
  pings,
  worldAddresses,
} from '@podwire/testkit';
import { eventually } from './counting.js';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

/** No rp_filter beyond what a pod's own link has, and router advertisements are welcome: the guard stands alone. */
const trusting = {
  'net/ipv4/conf/all/rp_filter': '0',
  'net/ipv4/conf/default/rp_filter': '0',
  'net/ipv6/conf/default/accept_ra': '2',
};

suite('what a pod may not send', () => {
  let host: WiredHost;
  let a: WiredPod;
  let b: WiredPod;

  before(async () => {
    host = await createWiredHost('guard', {}, trusting);
    [a, b] = [await host.addPod(), await host.addPod()];
  });
  after(() => host.close());

  const overNode = (address: string): readonly Hop[] => [{ namespace: host.namespace, address }];

  test('packets with a foreign source are dropped on the way in', async () => {
    // Deprecated, so that the pod takes it for no packet but the forged ones.
    await a.namespace.ip(
      'addr add 10.244.0.50/32 dev eth0',
      'addr add fd00:244::32/128 dev eth0 nodad preferred_lft 0',
    );
    const spoofed = [
      [b.ipv4, '10.244.0.50', worldAddresses.host.ipv4],
      [b.ipv6, 'fd00:244::32', worldAddresses.host.ipv6],
    ] as const;
    for (const [address, source, node] of spoofed)
      await assertBlocked(a.namespace, b.namespace, address, overNode(node), { source });
    await withoutGuard(host, async () => {
      // The guard was what stopped them.
      for (const [address, source] of spoofed)
        await assertArrives(a.namespace, b.namespace, address, { source });
    });
  });

  test('packets from an interface that is in no plan are dropped', async () => {
    const foreign = host.addNamespace();
    await host.namespace.ip(
      `link add califoreign address ee:ee:ee:ee:ee:ee type veth peer name eth0 netns ${foreign.name}`,
      'link set califoreign up',
    );
    await foreign.ip('link set eth0 up', 'addr add 10.244.0.51/32 dev eth0', 'route add default dev eth0');
    await foreign.ip(`neigh add ${b.ipv4} lladdr ee:ee:ee:ee:ee:ee dev eth0`);
    // Nothing that it sends is answered, so another pod sends the markers.
    await assertBlocked(foreign, b.namespace, b.ipv4, overNode(worldAddresses.host.ipv4), {
      markers: a.namespace,
    });
    await withoutGuard(host, () => assertArrives(foreign, b.namespace, b.ipv4));
  });

  test('a pod cannot advertise itself as the router of its host', async () => {
    const routes = (): Promise<string> => host.namespace.run(['ip', '-6', 'route', 'show', 'proto', 'ra']);
    const advertise = async (): Promise<void> => {
      await a.namespace.run([nativeProgram('advertise'), 'eth0']);
    };
    // An advertisement must come from a link-local address, and the kernel's own is still being checked for duplicates.
    await a.namespace.ip('addr add fe80::a/64 dev eth0 nodad');
    await advertise();
    await settle();
    assert.equal(await routes(), '');
    await withoutGuard(host, async () => {
      await advertise();
      await eventually(async () => assert.match(await routes(), /^default/, 'the guard was what stopped it'));
    });
    await host.namespace.run(['ip', '-6', 'route', 'flush', 'proto', 'ra']);
  });

  const invent = (what: string, count: number): Promise<string> => {
    const sourceFile = path.resolve(import.meta.dirname, '../../test/native/invent.c');
    return a.namespace.run([nativeProgram('invent', { sourceFile }), what, 'eth0', `${count}`]);
  };
  const neighbours = async (...words: string[]): Promise<number> => {
    const output = await host.namespace.run(['ip', ...words, 'neigh', 'show', 'dev', a.plan.links[0]!.name]);
    return output.split('\n').filter((line) => line !== '').length;
  };
  /** Answers arrive in the order of the questions, so what was sent before is dealt with. */
  const settle = async (): Promise<void> => {
    assert.ok(await pings(a.namespace, worldAddresses.host.ipv4));
  };

  test('ARP requests of invented senders leave no neighbours behind', async () => {
    await invent('arp', 100);
    await settle();
    assert.ok((await neighbours('-4')) <= 1, 'only the pod itself');
    await withoutGuard(host, async () => {
      await invent('arp', 100);
      await eventually(async () => assert.ok((await neighbours('-4')) >= 100));
    });
    await host.namespace.run(['ip', 'neigh', 'flush', 'dev', a.plan.links[0]!.name]);
  });

  test('neighbour solicitations of invented senders leave a few behind, and the pod is still asked and answered', async () => {
    await invent('nd', 200);
    await settle();
    assert.ok((await neighbours('-6')) <= 20);
    // Both look each other up anew.
    await host.namespace.run(['ip', 'neigh', 'flush', 'dev', a.plan.links[0]!.name]);
    await assertPasses(host.namespace, a.namespace, a.ipv6); // the node finds the pod
    await withoutGuard(host, async () => {
      await invent('nd', 200);
      await eventually(async () => assert.ok((await neighbours('-6')) >= 200));
    });
    await host.namespace.run(['ip', 'neigh', 'flush', 'dev', a.plan.links[0]!.name]);
  });

  test('a pod cannot ask a DHCP server of its node for an address', async () => {
    const seen =
      'table inet dhcp { chain seen { type filter hook input priority 0; udp dport 67 counter; }; }';
    await host.namespace.run(['nft', '-f', '-'], { input: seen });
    const count = async (): Promise<number> => {
      const listing = await host.namespace.run(['nft', 'list', 'chain', 'inet', 'dhcp', 'seen']);
      return Number(/packets (\d+)/.exec(listing)?.[1]);
    };
    await invent('dhcp', 1);
    await settle();
    assert.equal(await count(), 0);
    await withoutGuard(host, async () => {
      await invent('dhcp', 1);
      await eventually(async () => assert.equal(await count(), 1));
    });
  });

  test('a pod forwards nothing, until it says so', () => {
    const forwards = (): string => fs.readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8').trim();
    assert.equal(a.namespace.inside(forwards), '0');
  });
});

/** The control of a test that expects nothing to pass: the same without what should have stopped it. */
async function withoutGuard(host: WiredHost, attempt: () => Promise<unknown>): Promise<void> {
  const rules = await host.namespace.run(['nft', '-s', 'list', 'chain', 'inet', 'podwire', 'from_pod']);
  await host.namespace.run(['nft', 'flush', 'chain', 'inet', 'podwire', 'from_pod']);
  const filterSources = (value: string): void => {
    const links = fs.readdirSync('/proc/sys/net/ipv4/conf').filter((link) => link.startsWith('cali'));
    for (const link of links) fs.writeFileSync(`/proc/sys/net/ipv4/conf/${link}/rp_filter`, value);
  };
  host.namespace.inside(() => filterSources('0'));
  try {
    await attempt();
  } finally {
    host.namespace.inside(() => filterSources('1'));
    await host.namespace.run(['nft', '-f', '-'], { input: rules });
  }
}
