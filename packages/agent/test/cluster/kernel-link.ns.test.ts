/** The kernel's report of a link that was down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNamespace } from '@podwire/linux';
import {
  decodeLink,
  getLinkRequest,
  listAddresses,
  listRoutes,
  type NetlinkConnection,
  openRouteConnection,
} from '@podwire/netlink';
import { createPrivateHost, eventually, type PrivateHost } from '@podwire/testkit';
import { describeLinkState } from '../../src/cluster/kernel-link.js';

interface Uplink {
  readonly host: PrivateHost;
  readonly connection: NetlinkConnection;
  /** Reads the report about `eth0`. */
  readonly read: () => string | undefined;
}

async function withUplink(name: string, work: (uplink: Uplink) => Promise<void>): Promise<void> {
  const host = await createPrivateHost({ name, world: true });
  const namespace = openNamespace(host.namespace.path);
  const connection = openRouteConnection({ namespace });
  try {
    await work({ host, connection, read: () => describeLinkState(connection, 'eth0') });
  } finally {
    connection.close();
    namespace.close();
    await host.close();
  }
}

test('a link that was taken down shows it while it is down and after it', () =>
  withUplink('link', async ({ host, connection, read }) => {
    const first = read();
    assert.ok(first !== undefined);
    assert.equal(read(), first);
    await host.namespace.ip(
      'link set eth0 down',
      'link set eth0 up',
      'addr add 2001:db8:2::10/64 dev eth0 nodad',
    );
    await eventually('eth0 is usable', () => read() !== undefined);
    const second = read();
    assert.notEqual(second, first);
    await host.namespace.ip('link set eth0 down');
    assert.equal(read(), undefined);
    await host.namespace.ip('link set eth0 up', 'addr add 192.0.2.77/24 dev eth0');
    assert.notEqual(read(), second);
    // Duplicate address detection takes a second.
    await host.namespace.ip('addr add 2001:db8:2::77/64 dev eth0');
    assert.equal(read(), undefined);
    await eventually('no other link has the address', () => read()?.includes('2001:db8:2::77/64') === true);
    assert.equal(describeLinkState(connection, 'eth9'), undefined);
  }));

test('an address that was taken away and is there again is another one: the kernel has dropped the routes with it', () =>
  withUplink('again', async ({ host, connection, read }) => {
    const [link] = connection.request([getLinkRequest('eth0')]).map(([message]) => decodeLink(message!));
    const [own] = listAddresses(connection, { family: 4, link: link!.index });
    const before = read();
    assert.ok(before !== undefined);
    await host.namespace.ip(`addr replace ${own!.address} dev eth0`);
    assert.equal(read(), before);
    await host.namespace.ip(
      'route add 10.9.0.0/24 dev eth0',
      `addr del ${own!.address} dev eth0`,
      `addr add ${own!.address} dev eth0`,
    );
    assert.deepEqual(
      listRoutes(connection, { family: 4, link: link!.index })
        .map(({ destination }) => destination)
        .filter((each) => each === '10.9.0.0/24'),
      [],
    );
    assert.notEqual(read(), before);
  }));
