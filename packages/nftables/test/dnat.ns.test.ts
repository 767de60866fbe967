/** Shows with real packets that the table of docs/decisions/0004-host-ports-in-nftables-maps.md does what it says. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type NamespaceHandle, openNamespace } from '@podwire/linux';
import {
  type Conntrack,
  type ElementChange,
  type Nftables,
  openConntrack,
  openNftables,
  type Value,
} from '@podwire/nftables';
import {
  ask,
  assertBlocked,
  assertRefused,
  createPrivateHost,
  type PrivateHost,
  type Protocol,
  serveEcho,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { deadline } from './deadline.js';

const decision = path.resolve(
  import.meta.dirname,
  '../../../../docs/decisions/0004-host-ports-in-nftables-maps.md',
);
const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;
const pods = {
  one: { ipv4: '10.244.0.2', ipv6: 'fd00:244::2' },
  two: { ipv4: '10.244.0.3', ipv6: 'fd00:244::3' },
};
const HOST_PORT = 8080;
const POD_PORT = 80;
/** Reachable through one address of the node only. */
const PRIVATE_PORT = 8081;

let host: PrivateHost;
let one: TestNamespace;
let two: TestNamespace;
let world: TestNamespace;
let namespace: NamespaceHandle;
let nftables: Nftables;
let conntrack: Conntrack;

/** The table's body as it stands in the document. */
function bodyOfDecision(): string {
  const [, block = ''] =
    /```\n(table inet podwire \{\n[^]*?)```/.exec(fs.readFileSync(decision, 'utf8')) ?? [];
  return block.slice(block.indexOf('{') + 1, block.lastIndexOf('}'));
}

/** The routed model's wiring of a pod: host routes, a gateway that is no link's address, none on the host side. */
async function wire(
  pod: TestNamespace,
  link: string,
  { ipv4, ipv6 }: { ipv4: string; ipv6: string },
): Promise<void> {
  const mac = `ee:ee:ee:ee:ee:0${link.at(-1)}`;
  await host.namespace.ip(
    `link add ${link} address ${mac} type veth peer name eth0 netns ${pod.name}`,
    `link set ${link} up`,
    `route add ${ipv4}/32 dev ${link}`,
    `route add ${ipv6}/128 dev ${link}`,
    `addr add fe80::1/64 dev ${link} nodad`,
    `route add local ::1 dev ${link} table local metric ${2048 + Number(link.at(-1))}`,
  );
  await pod.ip(
    'link set lo up',
    'link set eth0 up',
    `addr add ${ipv4}/32 dev eth0`,
    `addr add ${ipv6}/128 dev eth0 nodad`,
    'route add 169.254.1.1 dev eth0 scope link',
    `neigh add 169.254.1.1 lladdr ${mac} dev eth0 nud permanent`,
    'route add default via 169.254.1.1 dev eth0',
    'route add default via fe80::1 dev eth0',
  );
  setSysctl(host.namespace, `net/ipv4/conf/${link}/route_localnet`);
}

function setSysctl(where: TestNamespace, key: string): void {
  where.inside(() => fs.writeFileSync(`/proc/sys/${key}`, '1'));
}

type Families = { readonly ipv4: string; readonly ipv6: string };

const typed = (address: string): Value => ({
  type: address.includes(':') ? 'ipv6_addr' : 'ipv4_addr',
  value: address,
});
const suffix = (address: string): string => (address.includes(':') ? '6' : '4');

function hostPort(
  op: ElementChange['op'],
  protocol: Protocol,
  port: number,
  pod: string,
  hostIp?: string,
): ElementChange {
  return {
    op,
    family: 'inet',
    table: 'podwire',
    set: `${hostIp === undefined ? 'hostports' : 'hostipports'}${suffix(pod)}`,
    key: [
      ...(hostIp === undefined ? [] : [typed(hostIp)]),
      { type: 'inet_proto', value: protocol },
      { type: 'inet_service', value: port },
    ],
    value: [typed(pod), { type: 'inet_service', value: POD_PORT }],
  };
}

function hostPorts(op: ElementChange['op'], port: number, pod: Families, hostIp?: Families): ElementChange[] {
  return PROTOCOLS.flatMap((protocol) => [
    hostPort(op, protocol, port, pod.ipv4, hostIp?.ipv4),
    hostPort(op, protocol, port, pod.ipv6, hostIp?.ipv6),
  ]);
}

function hairpins(pod: Families): ElementChange[] {
  return [pod.ipv4, pod.ipv6].map((address) => ({
    op: 'add',
    family: 'inet',
    table: 'podwire',
    set: `hairpins${suffix(address)}`,
    key: [typed(address), typed(address)],
  }));
}

before(async () => {
  host = await createPrivateHost({ name: 'dnat', world: true });
  world = host.world!;
  one = host.addPod();
  two = host.addPod();
  setSysctl(host.namespace, 'net/ipv4/ip_forward');
  setSysctl(host.namespace, 'net/ipv6/conf/all/forwarding');
  await wire(one, 'cali1', pods.one);
  await wire(two, 'cali2', pods.two);
  namespace = openNamespace(host.namespace.path);
  nftables = openNftables({ namespace });
  conntrack = openConntrack({ namespace });
  await nftables.applyTable({ family: 'inet', name: 'podwire', body: bodyOfDecision() }, deadline());
  for (const protocol of PROTOCOLS) {
    for (const address of [pods.one.ipv4, pods.one.ipv6]) await serveEcho(one, protocol, address, POD_PORT);
  }
  nftables.change([
    ...hostPorts('create', HOST_PORT, pods.one),
    ...hostPorts('create', PRIVATE_PORT, pods.one, { ipv4: '127.0.0.1', ipv6: '::1' }),
    ...hairpins(pods.one),
  ]);
});

after(async () => {
  nftables?.close();
  conntrack?.close();
  namespace?.close();
  await host?.close();
});

/** Asks a host port and returns who the pod thinks has asked. */
async function peerSeenBy(
  client: TestNamespace,
  protocol: Protocol,
  address: string,
  port = HOST_PORT,
): Promise<string> {
  const answer = await ask(client, protocol, address, port);
  return answer.peer.address;
}

for (const protocol of PROTOCOLS) {
  for (const family of ['ipv4', 'ipv6'] as const) {
    const node = worldAddresses.host[family];
    const loopback = family === 'ipv4' ? '127.0.0.1' : '::1';

    describe(`${protocol} over ${family}`, () => {
      it('reaches the pod from outside, with the true source', async () => {
        assert.equal(await peerSeenBy(world, protocol, node), worldAddresses.world[family]);
      });
      it('reaches the pod from the node', async () => {
        assert.equal(await peerSeenBy(host.namespace, protocol, node), node);
      });
      it('reaches the pod from the node through loopback, under an address that the pod can answer', async () => {
        assert.equal(await peerSeenBy(host.namespace, protocol, loopback), node);
      });
      it('reaches the pod from another pod, with the true source', async () => {
        assert.equal(await peerSeenBy(two, protocol, node), pods.two[family]);
      });
      it('reaches the pod from itself', async () => {
        assert.equal(await peerSeenBy(one, protocol, node), node);
      });
      it('keeps a port of one address to that address', async () => {
        assert.equal(await peerSeenBy(host.namespace, protocol, loopback, PRIVATE_PORT), node);
        const arrival = { address: pods.one[family], port: POD_PORT };
        const way = [{ namespace: host.namespace, address: node }];
        await assertBlocked(world, one, node, way, { protocol, port: PRIVATE_PORT, arrival });
      });
    });
  }
}

describe('the maps', () => {
  it('prefer the address of the node that is asked', async () => {
    await serveEcho(two, 'tcp', pods.two.ipv4, POD_PORT);
    const specific = hostPort('create', 'tcp', HOST_PORT, pods.two.ipv4, worldAddresses.host.ipv4);
    nftables.change([specific]);
    const { local } = await ask(world, 'tcp', worldAddresses.host.ipv4, HOST_PORT);
    assert.equal(local.address, pods.two.ipv4);
    nftables.change([{ ...specific, op: 'delete' }]);
    const back = await ask(world, 'tcp', worldAddresses.host.ipv4, HOST_PORT);
    assert.equal(back.local.address, pods.one.ipv4);
  });

  it('refuse a second owner of a port', () => {
    const second = hostPort('create', 'tcp', HOST_PORT, pods.two.ipv4);
    assert.throws(() => nftables.change([second]), { code: 'EEXIST' });
  });

  it('forget a port at once', async () => {
    const port = hostPort('create', 'tcp', 9_000, pods.one.ipv4);
    nftables.change([port]);
    await ask(world, 'tcp', worldAddresses.host.ipv4, 9_000);
    nftables.change([{ ...port, op: 'delete' }]);
    await assertRefused(world, 'tcp', worldAddresses.host.ipv4, 9_000);
  });
});

describe('applying the table anew', () => {
  it('lets every connection through meanwhile', async () => {
    const body = bodyOfDecision();
    let asking = true;
    let applied = 0;
    const applying = (async () => {
      while (asking) {
        const extra = applied % 2 === 0 ? 'chain extra { counter; }' : '';
        const declaration = { family: 'inet', name: 'podwire', body: `${body}\n${extra}\n` } as const;
        assert.deepEqual(await nftables.applyTable(declaration, deadline()), {
          changed: true,
          recreated: [],
          emptied: [],
        });
        applied++;
      }
    })();
    // A datagram without translation would find no listener on the node and be answered with ECONNREFUSED.
    for (let n = 0; n < 150; n++) await ask(world, 'udp', worldAddresses.host.ipv4, HOST_PORT);
    asking = false;
    await applying;
    assert.ok(applied > 5, `applied ${applied} times only`);
  });
});

describe('connection tracking', () => {
  for (const family of [4, 6] as const) {
    it(`loses the entries of a host port over IPv${family}, seen from either end`, async () => {
      const [node, pod] =
        family === 4 ? [worldAddresses.host.ipv4, pods.one.ipv4] : [worldAddresses.host.ipv6, pods.one.ipv6];
      const byPort = { family, protocol: 'udp', port: HOST_PORT } as const;
      const byPod = { family, match: 'reply-source', address: pod } as const;
      for (const filter of [byPort, { ...byPort, address: node }, byPod]) {
        await ask(world, 'udp', node, HOST_PORT);
        await ask(world, 'tcp', node, HOST_PORT);
        assert.notEqual(conntrack.listConntrack(filter).length, 0);
        await conntrack.deleteConntrack([filter], deadline());
        assert.deepEqual(conntrack.listConntrack(filter), []);
        // Those of another protocol stay, unless the pod itself is meant.
        if (filter !== byPod)
          assert.notDeepEqual(conntrack.listConntrack({ ...byPort, protocol: 'tcp' }), []);
      }
    });
  }
});

describe('route_localnet', () => {
  it('does not open the loopback of the node to pods', async () => {
    await serveEcho(host.namespace, 'udp', '127.0.0.1', 7_000);
    await two.ip('addr del 127.0.0.1/8 dev lo', 'route add 127.0.0.1 via 169.254.1.1 dev eth0');
    setSysctl(two, 'net/ipv4/conf/eth0/route_localnet');
    const from = pods.two.ipv4;
    const way = [{ namespace: host.namespace, address: worldAddresses.host.ipv4 }];
    await assertBlocked(two, host.namespace, '127.0.0.1', way, { port: 7_000, source: from });
    // The same packet does arrive when the rule is taken away, so it was the rule that kept it out.
    await host.run(['nft', 'flush', 'chain', 'inet', 'podwire', 'raw']);
    await ask(two, 'udp', '127.0.0.1', 7_000, { from });
  });
});
