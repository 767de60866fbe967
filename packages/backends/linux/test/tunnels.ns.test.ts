import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrivateHost } from '@podwire/testkit';
import { openKernel } from '../src/index.js';
import type { Change, Owned } from '@podwire/engine';
import { call } from './call.js';
import { peerOf, tunnel } from './tunnel-resources.js';
import { makeUnderlay, nodeOf, openBench, tunnelCases } from './tunnels.js';

for (const { name, run } of tunnelCases) {
  test(`on the real kernel: ${name}`, async () => {
    const host = await createPrivateHost({ name: 'tunnels' });
    const bench = openBench(openKernel(host.namespace));
    try {
      makeUnderlay(bench.route);
      await run(bench);
    } finally {
      await bench.engine.close();
      await host.close();
    }
  });
}

/** The same peer without a tunnel: its own addresses are the next hops. */
function directly(peer: Owned, n: number): Owned {
  const resources = peer.resources.flatMap((resource) => {
    if (resource.kind !== 'route') return [];
    const { onlink: _, ...route } = resource;
    const gateway = route.destination.includes(':') ? `2001:db8::${n}` : `192.0.2.${n}`;
    return [{ ...route, link: 'eth0', gateway }];
  });
  return { ...peer, resources };
}

test('routes of both families follow when a pool gets tunnels, and when it loses them', async () => {
  const host = await createPrivateHost({ name: 'way' });
  const { engine, route } = openBench(openKernel(host.namespace));
  try {
    makeUnderlay(route);
    await host.namespace.ip('address add 2001:db8::1/64 dev eth0 nodad');
    // The tunnel end of the third peer lies in a block of the second.
    const borrowed = {
      kind: 'route',
      in: 'host',
      destination: 'fd00:9:3:1::/122',
      gateway: 'fd00:9:2::7',
      link: tunnel.name,
      onlink: true,
    } as const;
    const third = peerOf(3);
    const tunnelled = [peerOf(2), { ...third, resources: [...third.resources, borrowed] }];
    const direct = tunnelled.map((peer, index) => directly(peer, index + 2));
    const reconcile = async (peers: readonly Owned[]): Promise<Change[]> =>
      (await engine.reconcile([nodeOf(), ...peers], call())).filter(({ action }) => action === 'failed');
    const ways = async (link: string): Promise<number> =>
      (await host.run(['ip', '-6', 'route', 'show', 'dev', link, 'proto', '157'])).trim().split('\n').length;
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await reconcile(direct), []);
      assert.equal(await ways('eth0'), 3);
      assert.deepEqual(await reconcile(tunnelled), []);
      assert.equal(await ways(tunnel.name), 3);
      for (const peer of tunnelled) assert.deepEqual(await engine.verify(peer, call()), []);
    }
  } finally {
    await engine.close();
    await host.close();
  }
});
