import { listNeighbours } from '@podwire/netlink';
import { describe, expect, test, vi } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { call } from './call.js';
import { peerOf } from './tunnel-resources.js';
import { makeUnderlay, nodeOf, openBench, tunnelCases } from './tunnels.js';

describe('tunnels on the fake system', () => {
  for (const { name, run } of tunnelCases) {
    test(name, async () => {
      const system = createFakeSystem();
      makeUnderlay(system.host.route);
      await run(openBench(system));
    });
  }
});

test('a neighbour that the dump of a growing table has missed is not made again', async () => {
  const system = createFakeSystem();
  makeUnderlay(system.host.route);
  const wanted = [nodeOf(), peerOf(7), peerOf(8)];
  const { engine } = openBench(system);
  for (const owned of wanted) await engine.apply(owned, call());
  expect(listNeighbours(system.host.route)).toHaveLength(4);
  const { route } = system.host;
  const dump = route.dump.bind(route);
  vi.spyOn(route, 'dump').mockImplementation((request, limit) => {
    const messages = dump(request, limit);
    return request.label === 'list neighbours' ? messages.slice(1) : messages;
  });
  expect(await engine.reconcile(wanted, call())).toEqual([]);
});
