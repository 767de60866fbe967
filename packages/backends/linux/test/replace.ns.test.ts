/** Content that changes in place, as the kernel reports it to others: nothing is deleted on the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import { openNetlinkEvents, routeGroups } from '@podwire/netlink';
import { createPrivateHost } from '@podwire/testkit';
import { openKernel } from '../src/index.js';
import { call } from './call.js';
import { peerOf } from './tunnel-resources.js';
import { makeUnderlay, nodeOf, openBench } from './tunnels.js';

const NETLINK_ROUTE = 0;
/** RTM_DELROUTE and RTM_DELNEIGH; the latter also of forwarding entries. */
const deletions = new Set([25, 29]);

/** The same keys with another remote, MAC and gateway. */
function move(resource: Resource): Resource {
  switch (resource.kind) {
    case 'forwarding-entry':
      return { ...resource, remote: '192.0.2.77' };
    case 'neighbour':
      return { ...resource, mac: '66:00:00:00:00:77' };
    case 'route':
      return { ...resource, gateway: resource.destination.includes(':') ? 'fd00:9:7::1' : '10.9.7.1' };
    default:
      return resource;
  }
}

test('routes, neighbours and forwarding entries change without being deleted', async () => {
  const host = await createPrivateHost({ name: 'replace' });
  const { engine, route } = openBench(openKernel(host.namespace));
  const { neighbour, ipv4Route, ipv6Route } = routeGroups;
  const groups = [neighbour, ipv4Route, ipv6Route];
  const namespace = openNamespace(host.namespace.path);
  const events = openNetlinkEvents({ protocol: NETLINK_ROUTE, groups, namespace });
  namespace.close();
  const readTypes = (): number[] => events.read(1_000).events.map(({ type }) => type);
  try {
    makeUnderlay(route);
    const peer = peerOf(2);
    await engine.apply(nodeOf(), call());
    await engine.apply(peer, call());
    const moved = { ...peer, resources: peer.resources.map(move) };
    readTypes();
    await engine.change(peer, { remove: peer.resources, add: moved.resources }, call());
    const types = readTypes();
    // Each route and entry is announced once with its new content.
    assert.ok(types.length >= 6, `only ${types.length} events`);
    assert.deepEqual(
      types.filter((type) => deletions.has(type)),
      [],
    );
    assert.deepEqual(await engine.verify(moved, call()), []);
    await engine.remove(moved, call());
    assert.ok(readTypes().some((type) => deletions.has(type)));
  } finally {
    events.close();
    await engine.close();
    await host.close();
  }
});
