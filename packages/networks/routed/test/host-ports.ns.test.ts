import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, suite, test } from 'node:test';
import {
  ask,
  assertBlocked,
  assertRefused,
  type Hop,
  serveEcho,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

const { host: hostIPs, world: worldIPs } = worldAddresses;
const families = ['ipv4', 'ipv6'] as const;
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };
const protocols = ['tcp', 'udp', 'sctp'] as const;

suite('host ports on every address', () => {
  let host: WiredHost;
  let server: WiredPod;
  let other: WiredPod;

  before(async () => {
    host = await createWiredHost('ports');
    const portMappings = protocols.map((protocol) => ({ hostPort: 8080, containerPort: 80, protocol }));
    server = await host.addPod({ portMappings });
    other = await host.addPod();
    for (const protocol of protocols) {
      for (const family of families) await serveEcho(server.namespace, protocol, server[family], 80);
    }
  });
  after(() => host.close());

  for (const family of families) {
    for (const protocol of protocols) {
      /** Asks the host port and returns who the pod thinks has asked. */
      const clientSeen = async (
        client: TestNamespace,
        address: string = hostIPs[family],
      ): Promise<string> => {
        const answer = await ask(client, protocol, address, 8080);
        assert.equal(answer.local.address, server[family]);
        return answer.peer.address;
      };

      test(`${protocol} from the world keeps its source, ${family}`, async () => {
        assert.equal(await clientSeen(host.world), worldIPs[family]);
      });

      test(`${protocol} from the host itself, ${family}`, async () => {
        assert.equal(await clientSeen(host.namespace), hostIPs[family]);
      });

      test(`${protocol} from another pod keeps its source, ${family}`, async () => {
        assert.equal(await clientSeen(other.namespace), other[family]);
      });

      test(`${protocol} from the pod itself looks like the host, ${family}`, async () => {
        assert.equal(await clientSeen(server.namespace), hostIPs[family]);
      });

      test(`${protocol} from the host by ${loopback[family]}`, async () => {
        assert.equal(await clientSeen(host.namespace, loopback[family]), hostIPs[family]);
      });
    }

    test(`the host still reaches its own loopback services, ${family}`, async () => {
      await serveEcho(host.namespace, 'tcp', loopback[family], 9000);
      assert.equal((await ask(host.namespace, 'tcp', loopback[family], 9000)).peer.address, loopback[family]);
    });
  }
});

suite('host ports bound to one address', () => {
  let host: WiredHost;
  let server: WiredPod;

  before(async () => {
    host = await createWiredHost('hostip');
    const tcp = { containerPort: 80, protocol: 'tcp' } as const;
    server = await host.addPod({
      portMappings: [
        { ...tcp, hostPort: 8081, hostIP: hostIPs.ipv4 },
        { ...tcp, hostPort: 8082, hostIP: hostIPs.ipv6 },
        { ...tcp, hostPort: 8083, hostIP: loopback.ipv4 },
        { ...tcp, hostPort: 8084, hostIP: loopback.ipv6 },
        { ...tcp, hostPort: 8085, hostIP: '0.0.0.0' },
        { ...tcp, hostPort: 8086, hostIP: '::' },
      ],
    });
    for (const family of families) await serveEcho(server.namespace, 'tcp', server[family], 80);
  });
  after(() => host.close());

  const overNode = (): readonly Hop[] => [{ namespace: host.namespace, address: hostIPs.ipv4 }];

  const expected: readonly (readonly [port: number, addresses: readonly string[]])[] = [
    [8081, [hostIPs.ipv4]],
    [8082, [hostIPs.ipv6]],
    [8083, [loopback.ipv4]],
    [8084, [loopback.ipv6]],
    [8085, [hostIPs.ipv4, loopback.ipv4]],
    [8086, [hostIPs.ipv6, loopback.ipv6]],
  ];
  for (const [port, addresses] of expected) {
    test(`port ${port} answers on ${addresses.join(' and ')} only`, async () => {
      for (const address of [...Object.values(hostIPs), ...Object.values(loopback)]) {
        if (addresses.includes(address)) await ask(host.namespace, 'tcp', address, port);
        else await assertRefused(host.namespace, 'tcp', address, port);
      }
    });
  }

  test('what is bound to 127.0.0.1 cannot be had from the wire', async () => {
    await takeLoopbackApart(host.world, hostIPs.ipv4);
    await assertBlocked(host.world, server.namespace, loopback.ipv4, overNode(), {
      ...{ protocol: 'tcp', port: 8083, source: worldIPs.ipv4 },
      arrival: { address: server.ipv4, port: 80 },
    });
    // The guard was what stopped it.
    await withoutGuard(host, () => ask(host.world, 'tcp', loopback.ipv4, 8083, { from: worldIPs.ipv4 }));
  });

  test('route_localnet opens nothing of the host to the pod', async () => {
    await serveEcho(host.namespace, 'tcp', loopback.ipv4, 9000);
    await takeLoopbackApart(server.namespace, '169.254.1.1');
    await assertBlocked(server.namespace, host.namespace, loopback.ipv4, overNode(), {
      ...{ protocol: 'tcp', port: 9000, source: server.ipv4 },
    });
    // The guard was what stopped it.
    await withoutGuard(host, () => ask(server.namespace, 'tcp', loopback.ipv4, 9000, { from: server.ipv4 }));
  });
});

/** Makes a namespace send packets for 127.0.0.1 over its wire, as an attacker with raw sockets would. */
async function takeLoopbackApart(namespace: TestNamespace, gateway: string): Promise<void> {
  await namespace.ip('addr del 127.0.0.1/8 dev lo', `route add 127.0.0.1/32 via ${gateway} dev eth0`);
  namespace.inside(() => fs.writeFileSync('/proc/sys/net/ipv4/conf/eth0/route_localnet', '1'));
}

/** The control of a test that expects nothing to pass: the same without what should have stopped it. */
async function withoutGuard(host: WiredHost, attempt: () => Promise<unknown>): Promise<void> {
  const rules = await host.namespace.run(['nft', '-s', 'list', 'chain', 'inet', 'podwire', 'guard']);
  await host.namespace.run(['nft', 'flush', 'chain', 'inet', 'podwire', 'guard']);
  try {
    await attempt();
  } finally {
    await host.namespace.run(['nft', '-f', '-'], { input: rules });
  }
}
