/** What the kernel says of a link that was down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNamespace } from '@podwire/linux';
import { openRouteConnection } from '@podwire/netlink';
import { createPrivateHost, eventually } from '@podwire/testkit';
import { describeLinkState } from '../../src/cluster/kernel-link.js';

test('a link that was taken down shows it while it is down and after it', async () => {
  const host = await createPrivateHost({ name: 'link', world: true });
  const namespace = openNamespace(host.namespace.path);
  const connection = openRouteConnection(namespace);
  const read = (): string | undefined => describeLinkState(connection, 'eth0');
  try {
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
    await eventually('the address is nobody else’s', () => read()?.includes('2001:db8:2::77/64') === true);
    assert.equal(describeLinkState(connection, 'eth9'), undefined);
  } finally {
    connection.close();
    namespace.close();
    await host.close();
  }
});
