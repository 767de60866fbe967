import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  assertSameSnapshot,
  reaches,
  serveEcho,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
} from '@podwire/testkit';
import { CniError, findUsableNetwork, PluginError, supportedVersions } from '../src/index.js';
import {
  addressesOf,
  addTo,
  attachmentOf,
  createDebianHost,
  type DebianHost,
  gatewaysOf,
  linkOf,
  linksOf,
  networkOf,
} from './support/debian.js';

let kit: DebianHost;
before(async () => {
  kit = await createDebianHost({ name: 'cni', world: true });
  // Plugins switch forwarding on and leave it so; on from the start it is no difference.
  kit.host.namespace.inside(() => {
    for (const key of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding'])
      fs.writeFileSync(`/proc/sys/net/${key}`, '1');
  });
});
after(() => kit.host.close());

/** Runs an attachment from ADD to DEL on a fresh pod; afterwards host and pod must be as they were before. */
async function onFreshPod(
  work: (pod: TestNamespace) => Promise<void>,
  prepare: readonly string[] = [],
): Promise<void> {
  const pod = kit.host.addPod();
  await pod.ip(...prepare);
  const namespaces = [kit.host.namespace, pod];
  const earlier = await Promise.all(namespaces.map((namespace) => takeSnapshot(namespace)));
  await work(pod);
  const later = await Promise.all(namespaces.map((namespace) => takeSnapshot(namespace)));
  earlier.forEach((snapshot, index) => assertSameSnapshot(snapshot, later[index] ?? {}));
  assert.deepEqual(kit.cached(), []);
}

const hostRoutes = { routes: [{ dst: '0.0.0.0/0' }] };

describe('bridge with host-local', () => {
  /** The bridge itself stays after the last DEL; the plugin wants it so. */
  const removeBridge = (name: string) => kit.host.namespace.ip(`link del ${name}`);
  const network = () =>
    networkOf('brnet', [
      {
        type: 'bridge',
        bridge: 'pwbr0',
        isGateway: true,
        mtu: 1420,
        ipam: kit.hostLocal('10.88.0.0/24', hostRoutes),
      },
    ]);

  test('ADD: the result, field by field, is what the kernel has', async () => {
    await onFreshPod(async (pod) => {
      const attachment = attachmentOf(pod);
      const result = await addTo(kit, network(), attachment);
      const [bridge, veth, eth0] = result.interfaces ?? [];
      const hostLink = await linkOf(kit.host.namespace, veth?.name ?? '');
      const podLink = await linkOf(pod, 'eth0');
      assert.deepEqual(result, {
        cniVersion: '1.1.0',
        interfaces: [
          { name: 'pwbr0', mac: (await linkOf(kit.host.namespace, 'pwbr0')).address },
          { name: veth?.name, mac: hostLink.address },
          { name: 'eth0', mac: podLink.address, sandbox: pod.path },
        ],
        ips: [{ address: '10.88.0.2/24', gateway: '10.88.0.1', interface: 2 }],
        routes: [{ dst: '0.0.0.0/0' }],
      });
      assert.equal(bridge?.name, 'pwbr0');
      assert.equal(eth0?.name, 'eth0');
      assert.equal(hostLink.master, 'pwbr0');
      assert.equal(podLink.mtu, 1420);
      assert.deepEqual(await addressesOf(pod, 'eth0'), ['10.88.0.2/24']);
      assert.deepEqual(await addressesOf(kit.host.namespace, 'pwbr0'), ['10.88.0.1/24']);
      assert.deepEqual(await gatewaysOf(pod), { default: '10.88.0.1' });
      assert.deepEqual(kit.leases('brnet'), ['10.88.0.2']);

      await kit.runtime.check(network(), attachment);
      await pod.ip('addr del 10.88.0.2/24 dev eth0');
      await assert.rejects(
        kit.runtime.check(network(), attachment),
        (error) => error instanceof PluginError && error.plugin === 'bridge' && error.command === 'CHECK',
      );

      assert.deepEqual(await kit.runtime.del(network(), attachment), { configuration: 'cached' });
      assert.deepEqual(
        (await linksOf(pod)).map(({ ifname }) => ifname),
        ['lo'],
      );
      assert.deepEqual(kit.leases('brnet'), []);
      // Again, without anything: a DEL of nothing succeeds.
      assert.deepEqual(await kit.runtime.del(network(), attachment), { configuration: 'given' });
      assert.deepEqual(await kit.runtime.del('brnet', attachment), { configuration: 'none' });
      await removeBridge('pwbr0');
    });
  });

  test('dual stack, and the address asked for with the ips capability', async () => {
    await onFreshPod(async (pod) => {
      const both = networkOf('dual', [
        {
          type: 'bridge',
          bridge: 'pwbr1',
          isDefaultGateway: true,
          capabilities: { ips: true },
          ipam: kit.hostLocal('', { ranges: [[{ subnet: '10.89.0.0/24' }], [{ subnet: 'fd89::/64' }]] }),
        },
      ]);
      const attachment = attachmentOf(pod, { capabilityArgs: { ips: ['10.89.0.77/24', 'fd89::77/64'] } });
      const result = await addTo(kit, both, attachment);
      assert.deepEqual(
        result.ips?.map(({ address }) => address),
        ['10.89.0.77/24', 'fd89::77/64'],
      );
      assert.deepEqual(await addressesOf(pod, 'eth0'), ['10.89.0.77/24', 'fd89::77/64']);
      assert.deepEqual(await gatewaysOf(pod), { default: '10.89.0.1' });
      assert.deepEqual(await gatewaysOf(pod, 6), { default: 'fd89::1' });
      await kit.runtime.del('dual', attachment);
      await removeBridge('pwbr1');
    });
  });

  test('with the network namespace gone, DEL still frees the address', async () => {
    const earlier = await takeSnapshot(kit.host.namespace);
    const pod = kit.host.addPod();
    const attachment = attachmentOf(pod);
    await kit.runtime.add(network(), attachment);
    assert.equal(kit.leases('brnet').length, 1);
    kit.host.removePod(pod);
    await kit.runtime.del(network(), { ...attachment, netns: '' });
    assert.deepEqual(kit.leases('brnet'), []);
    assert.deepEqual(kit.cached(), []);
    await removeBridge('pwbr0');
    // The veth goes when the kernel destroys the namespace; a later test would see it go.
    await untilSameSnapshot(earlier, () => takeSnapshot(kit.host.namespace), { timeout: 30_000 });
  });

  test('eight pods at once, and GC takes away all but those in use', async () => {
    const pods = Array.from({ length: 8 }, () => kit.host.addPod());
    const results = await Promise.all(pods.map((pod) => addTo(kit, network(), attachmentOf(pod))));
    const addresses = results.map(({ ips }) => ips?.[0]?.address ?? '');
    assert.equal(new Set(addresses).size, 8);
    assert.equal(kit.leases('brnet').length, 8);
    assert.equal((await kit.runtime.attachments()).length, 8);

    const keep = pods.slice(0, 2);
    const valid = keep.map((pod) => ({ containerId: pod.name, interfaceName: 'eth0' }));
    await kit.runtime.gc(network(), valid);
    assert.equal(kit.leases('brnet').length, 2);
    assert.deepEqual(
      (await kit.runtime.attachments()).map(({ containerId }) => containerId).toSorted(),
      keep.map(({ name }) => name).toSorted(),
    );
    for (const pod of pods) {
      const names = (await linksOf(pod)).map(({ ifname }) => ifname);
      assert.deepEqual(names, keep.includes(pod) ? ['lo', 'eth0'] : ['lo']);
    }
    await Promise.all(keep.map((pod) => kit.runtime.del('brnet', attachmentOf(pod))));
    assert.deepEqual(kit.leases('brnet'), []);
    pods.forEach((pod) => kit.host.removePod(pod));
    await removeBridge('pwbr0');
  });

  for (const version of supportedVersions.filter((v) => v !== '1.1.0')) {
    test(`speaks ${version}: the same attachment, whatever the form of its result`, async () => {
      await onFreshPod(async (pod) => {
        const old = networkOf(
          'oldnet',
          network().plugins.map((plugin) => ({ ...plugin, ipam: kit.hostLocal('10.90.0.0/24', hostRoutes) })),
          version,
        );
        const raw = await kit.runtime.add(old, attachmentOf(pod));
        assert.equal(raw.cniVersion, version);
        assert.deepEqual(await gatewaysOf(pod), { default: '10.90.0.1' });
        const [address] = await addressesOf(pod, 'eth0');
        const said = 'ip4' in raw ? raw.ip4?.ip : 'ips' in raw ? raw.ips?.[0]?.address : undefined;
        assert.equal(said, address);
        if (version < '0.4.0') {
          await assert.rejects(
            kit.runtime.check(old, attachmentOf(pod)),
            (error) => error instanceof CniError && error.code === 1,
          );
        } else {
          await kit.runtime.check(old, attachmentOf(pod));
        }
        await kit.runtime.del(old, attachmentOf(pod));
        assert.deepEqual(kit.leases('oldnet'), []);
        await removeBridge('pwbr0');
      });
    });
  }
});

describe('ptp', () => {
  const network = () =>
    networkOf('ptpnet', [{ type: 'ptp', mtu: 1380, ipam: kit.hostLocal('10.91.0.0/24', hostRoutes) }]);

  test('ADD, CHECK and DEL, with packets in between', async () => {
    await onFreshPod(async (pod) => {
      const attachment = attachmentOf(pod);
      const result = await addTo(kit, network(), attachment);
      const veth = result.interfaces?.[0]?.name ?? '';
      assert.deepEqual(result, {
        cniVersion: '1.1.0',
        interfaces: [
          { name: veth, mac: (await linkOf(kit.host.namespace, veth)).address },
          { name: 'eth0', mac: (await linkOf(pod, 'eth0')).address, sandbox: pod.path },
        ],
        ips: [{ address: '10.91.0.2/24', gateway: '10.91.0.1', interface: 1 }],
        routes: [{ dst: '0.0.0.0/0' }],
      });
      assert.equal((await linkOf(pod, 'eth0')).mtu, 1380);
      const server = await serveEcho(pod, 'tcp', '10.91.0.2', 0);
      assert.equal(await reaches(kit.host.namespace, 'tcp', '10.91.0.2', server.port), true);
      await server.close();
      await kit.runtime.check('ptpnet', attachment);
      await kit.runtime.del('ptpnet', attachment);
    });
  });

  test('two interfaces of one pod are two attachments', async () => {
    await onFreshPod(async (pod) => {
      const [first, second] = ['eth0', 'net1'].map((interfaceName) => attachmentOf(pod, { interfaceName }));
      assert.ok(first && second);
      const other = networkOf('other', [{ type: 'ptp', ipam: kit.hostLocal('10.92.0.0/24') }]);
      await Promise.all([kit.runtime.add(network(), first), kit.runtime.add(other, second)]);
      assert.deepEqual((await linksOf(pod)).map(({ ifname }) => ifname).toSorted(), ['eth0', 'lo', 'net1']);
      assert.equal((await kit.runtime.attachments(pod.name)).length, 2);
      await kit.runtime.del(network(), first);
      assert.deepEqual((await linksOf(pod)).map(({ ifname }) => ifname).toSorted(), ['lo', 'net1']);
      await kit.runtime.check(other, second);
      await kit.runtime.del(other, second);
    });
  });

  test('a plugin that fails later in the chain leaves nothing behind', async () => {
    const failing =
      '#!/bin/sh\n[ "$CNI_COMMAND" = ADD ] || exit 0\necho \'{"code":11,"msg":"try later"}\'\nexit 1\n';
    fs.writeFileSync(path.join(kit.directory('plugins'), 'failing'), failing, { mode: 0o755 });
    await onFreshPod(async (pod) => {
      const chain = networkOf('ptpnet', [...network().plugins, { type: 'failing' }]);
      await assert.rejects(kit.runtime.add(chain, attachmentOf(pod)), (error) => {
        assert.ok(error instanceof PluginError);
        assert.equal(error.message, 'plugin failing failed to ADD: try later');
        return error.code === 11;
      });
      assert.deepEqual(kit.leases('ptpnet'), []);
    });
  });

  test('an interface that is there already is an error, and undoing it must not be hidden', async () => {
    const pod = kit.host.addPod();
    await pod.ip('link add eth0 type veth peer name other0');
    await assert.rejects(
      kit.runtime.add(network(), attachmentOf(pod)),
      (error) => error instanceof CniError && /exist/.test(error.message),
    );
    assert.deepEqual(kit.leases('ptpnet'), []);
    kit.host.removePod(pod);
  });
});

describe('macvlan', () => {
  test('on the uplink, with a static address', async () => {
    await onFreshPod(async (pod) => {
      const network = networkOf('macnet', [
        {
          type: 'macvlan',
          master: 'eth0',
          mode: 'bridge',
          ipam: {
            type: 'static',
            addresses: [{ address: '192.0.2.50/24', gateway: '192.0.2.1' }],
            routes: [{ dst: '0.0.0.0/0' }],
          },
        },
      ]);
      const result = await addTo(kit, network, attachmentOf(pod));
      const link = await linkOf(pod, 'eth0');
      assert.deepEqual(result, {
        cniVersion: '1.1.0',
        interfaces: [{ name: 'eth0', mac: link.address, sandbox: pod.path }],
        ips: [{ address: '192.0.2.50/24', gateway: '192.0.2.1', interface: 0 }],
        routes: [{ dst: '0.0.0.0/0' }],
      });
      assert.equal(link.linkinfo?.info_kind, 'macvlan');
      assert.equal(link.linkinfo?.info_data?.['mode'], 'bridge');
      assert.deepEqual(await addressesOf(pod, 'eth0'), ['192.0.2.50/24']);
      await kit.runtime.check(network, attachmentOf(pod));
      await kit.runtime.del(network, attachmentOf(pod));
    });
  });
});

describe('loopback', () => {
  test('brings lo up and down', async () => {
    await onFreshPod(
      async (pod) => {
        const network = networkOf('lonet', [{ type: 'loopback' }]);
        const attachment = attachmentOf(pod, { interfaceName: 'lo' });
        const result = await addTo(kit, network, attachment);
        assert.deepEqual(result.interfaces, [{ name: 'lo', mac: '00:00:00:00:00:00', sandbox: pod.path }]);
        assert.deepEqual(result.ips, [
          { address: '127.0.0.1/8', interface: 0 },
          { address: '::1/128', interface: 0 },
        ]);
        assert.ok((await linkOf(pod, 'lo')).flags.includes('UP'));
        await kit.runtime.check(network, attachment);
        await kit.runtime.del(network, attachment);
        assert.ok(!(await linkOf(pod, 'lo')).flags.includes('UP'));
        // Once it has been up the kernel keeps 127.0.0.1 on it.
      },
      ['link set lo up', 'link set lo down'],
    );
  });
});

describe('what the plugins say of themselves', () => {
  for (const plugin of [
    'bridge',
    'ptp',
    'macvlan',
    'loopback',
    'portmap',
    'bandwidth',
    'firewall',
    'tuning',
    'host-local',
    'static',
  ]) {
    test(`VERSION of ${plugin}`, async () => {
      assert.deepEqual(
        await kit.runtime.version(plugin).then((versions) => versions.filter((v) => v >= '0.4.0')),
        ['0.4.0', '1.0.0'],
      );
    });
  }

  test('findUsableNetwork passes over what is missing or too new, and says why', async () => {
    const folder = kit.directory('net.d');
    const write = (name: string, cniVersion: string, type: string): void =>
      fs.writeFileSync(
        path.join(folder, name),
        JSON.stringify({ name: 'x', cniVersion, plugins: [{ type, capabilities: { ips: true } }] }),
      );
    write('10-missing.conflist', '1.0.0', 'nowhere');
    write('20-new.conflist', '1.1.0', 'bridge');
    write('30-good.conflist', '1.0.0', 'bridge');
    const { network, skipped } = await findUsableNetwork(folder, (found) => kit.runtime.validate(found));
    assert.equal(path.basename(network.file ?? ''), '30-good.conflist');
    assert.deepEqual(
      skipped.map(({ file }) => path.basename(file)),
      ['10-missing.conflist', '20-new.conflist'],
    );
    assert.match(skipped[0]?.error.message ?? '', /plugin "nowhere" is in none of/);
    assert.match(skipped[1]?.error.message ?? '', /plugin bridge does not speak 1\.1\.0, only .*1\.0\.0/);
  });
});
