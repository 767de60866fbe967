import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ask, pings, reaches, serveEcho, worldAddresses } from '@podwire/testkit';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

const { host: hostIPs, beyond } = worldAddresses;
const inOtherPool = { ipv4: '10.245.0.9', ipv6: 'fd00:245::9' };
const families = ['ipv4', 'ipv6'] as const;

suite('the plan of a pod, carried out on a host with unfriendly settings', () => {
  let host: WiredHost;
  let a: WiredPod;
  let b: WiredPod;

  before(async () => {
    host = await createWiredHost('wiring');
    [a, b] = [await host.addPod(), await host.addPod()];
    for (const family of families) {
      await serveEcho(b.namespace, 'tcp', b[family], 80);
      await serveEcho(host.namespace, 'tcp', hostIPs[family], 81);
      await serveEcho(host.world, 'tcp', beyond[family], 82);
    }
  });
  after(() => host.close());

  for (const family of families) {
    test(`pods reach each other with their own address, ${family}`, async () => {
      const answer = await ask(a.namespace, 'tcp', b[family], 80);
      assert.equal(answer.peer.address, a[family]);
    });

    test(`a pod reaches itself, ${family}`, async () => {
      assert.ok(await reaches(b.namespace, 'tcp', b[family], 80));
    });

    test(`pod and host reach each other, ${family}`, async () => {
      const toHost = await ask(a.namespace, 'tcp', hostIPs[family], 81);
      assert.equal(toHost.peer.address, a[family]);
      const toPod = await ask(host.namespace, 'tcp', b[family], 80);
      assert.equal(toPod.peer.address, hostIPs[family]);
    });

    test(`the world sees the host's address, ${family}`, async () => {
      const answer = await ask(a.namespace, 'tcp', beyond[family], 82);
      assert.equal(answer.peer.address, hostIPs[family]);
    });

    test(`another network's pool sees the pod's address, ${family}`, async () => {
      const other = inOtherPool[family];
      const { world } = worldAddresses;
      await host.world.ip(`addr add ${other}/${family === 'ipv4' ? '32 dev lo' : '128 dev lo nodad'}`);
      await host.world.ip(`route add ${a[family]} via ${hostIPs[family]}`);
      await host.namespace.ip(`route add ${other} via ${world[family]}`);
      await serveEcho(host.world, 'tcp', other, 83);
      const answer = await ask(a.namespace, 'tcp', other, 83);
      assert.equal(answer.peer.address, a[family]);
    });

    test(`a packet for a free address of an own block ends on the host, ${family}`, async () => {
      const free = { ipv4: '10.244.0.60', ipv6: 'fd00:244::3c' }[family];
      const lookup = host.namespace.run(['ip', 'route', 'get', free]);
      await assert.rejects(lookup, /RTNETLINK answers: (Invalid argument|Network is unreachable)/);
    });
  }

  test('a pod finds its gateways again after its MAC was changed', async () => {
    const pod = await host.addPod();
    await pod.namespace.ip('link set eth0 address 02:00:00:00:ff:ff');
    const neighbours = await pod.namespace.run(['ip', 'neigh', 'show', 'nud', 'permanent']);
    assert.equal(neighbours, '', 'the kernel forgets permanent entries with the MAC');
    assert.ok(await pings(pod.namespace, b.ipv4));
    assert.ok(await pings(pod.namespace, b.ipv6));
  });
});

suite('a second interface of the same pod', () => {
  let host: WiredHost;
  let pod: WiredPod;
  let further: WiredPod;
  let peer: WiredPod;

  before(async () => {
    host = await createWiredHost('second');
    pod = await host.addPod();
    const id = { ...pod.endpoint.id, ifName: 'net1' };
    further = await host.addPod({ id, pod: pod.endpoint.pod }, pod.namespace);
    peer = await host.addPod();
    for (const { ipv4, ipv6 } of [pod, further]) {
      await serveEcho(pod.namespace, 'tcp', ipv4, 80);
      await serveEcho(pod.namespace, 'tcp', ipv6, 80);
    }
  });
  after(() => host.close());

  for (const family of families) {
    test(`both addresses answer pods and host, ${family}`, async () => {
      for (const client of [peer.namespace, host.namespace]) {
        assert.ok(await reaches(client, 'tcp', pod[family], 80));
        assert.ok(await reaches(client, 'tcp', further[family], 80));
      }
    });

    test(`what the pod sends leaves by the first interface unless bound, ${family}`, async () => {
      await serveEcho(peer.namespace, 'tcp', peer[family], 90);
      const unbound = await ask(pod.namespace, 'tcp', peer[family], 90);
      assert.equal(unbound.peer.address, pod[family]);
      const bound = await ask(pod.namespace, 'tcp', peer[family], 90, { from: further[family] });
      assert.equal(bound.peer.address, further[family]);
    });
  }

  test('an only interface with another name serves as well', async () => {
    const id = { containerId: 'only', ifName: 'net7', network: 'default' };
    const only = await host.addPod({ id, pod: {} });
    for (const family of families) assert.ok(await pings(only.namespace, peer[family]));
  });
});

suite('a host without a default route', () => {
  let host: WiredHost;
  let a: WiredPod;
  let b: WiredPod;

  before(async () => {
    host = await createWiredHost('noroute', { defaultRoute: false });
    const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' as const }];
    [a, b] = [await host.addPod(), await host.addPod({ portMappings })];
    for (const family of families) await serveEcho(b.namespace, 'tcp', b[family], 80);
  });
  after(() => host.close());

  for (const family of families) {
    test(`pods reach each other, the host and the next machine, ${family}`, async () => {
      assert.ok(await reaches(a.namespace, 'tcp', b[family], 80));
      assert.ok(await pings(a.namespace, hostIPs[family]));
      assert.ok(await pings(a.namespace, worldAddresses.world[family]));
    });

    test(`host ports answer, ${family}`, async () => {
      for (const client of [host.world, host.namespace, a.namespace, b.namespace]) {
        assert.ok(await reaches(client, 'tcp', hostIPs[family], 8080), client.name);
      }
    });
  }
});
