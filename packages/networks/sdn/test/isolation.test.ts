/** A packet arrives if, and only if, the projects of both pods say so. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SdnMode } from '@podwire/network-sdn';
import { globalVnid, highestVnid } from '@podwire/objects/vnid';
import { askService, Cluster, type ClusterOptions, home, placeOf, podOf, SERVICE, tcp } from './cluster.js';

const vnid = fc.constantFrom<number>(globalVnid, 10, 11, highestVnid);

const clusters: fc.Arbitrary<ClusterOptions> = fc
  .integer({ min: 2, max: 3 })
  .chain((nodes) =>
    fc.record({
      mode: fc.constantFrom<SdnMode>('subnet', 'multitenant'),
      datapath: fc.constantFrom('system' as const, 'netdev' as const),
      nodes: fc.constant(nodes),
      places: fc.array(fc.tuple(fc.integer({ min: 1, max: nodes }), vnid), { minLength: 2, maxLength: 5 }),
    }),
  )
  .map(({ places, ...options }) => ({
    ...options,
    pods: places.map(([node, project], index) => podOf(node, index, project)),
  }));

/** The promise of the modes. */
const mayReach = (mode: SdnMode, from: number, to: number): boolean =>
  mode === 'subnet' || from === to || from === globalVnid || to === globalVnid;

test('pods reach the pods that the mode allows, directly and by a service, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(clusters, async (options) => {
      const cluster = await Cluster.create(options);
      for (const from of options.pods)
        for (const to of options.pods.filter((pod) => pod !== from)) {
          const allowed = mayReach(options.mode, from.vnid, to.vnid);
          const about = `${home(from)} (${from.vnid}) to ${home(to)} (${to.vnid})`;
          const arrivals = cluster.sendFrom(from, tcp(from.ip, to.ip));
          expect(arrivals.map(placeOf), about).toEqual(allowed ? [home(to)] : []);
          const answers = await askService(cluster, from, to);
          const expected = allowed ? [[home(from), SERVICE]] : [];
          expect(
            answers.map((each) => [placeOf(each), each.packet.ip_src]),
            about,
          ).toEqual(expected);
        }
    }),
    { numRuns: 10 },
  );
});

test('multicast reaches the pods of its project on all nodes, each once, if the project has it', async () => {
  await fc.assert(
    fc.asyncProperty(clusters, fc.uniqueArray(vnid), async (options, multicast) => {
      const mode = 'multitenant';
      const cluster = await Cluster.create({ ...options, mode, multicast });
      for (const from of options.pods) {
        const receivers = options.pods.filter(
          (pod) => pod !== from && pod.vnid === from.vnid && multicast.includes(pod.vnid),
        );
        const arrivals = cluster.sendFrom(from, tcp(from.ip, '239.1.2.3'));
        expect(arrivals.map(placeOf).sort()).toEqual(receivers.map(home).sort());
      }
    }),
    { numRuns: 10 },
  );
});
