/** Waiting until the nodes know of each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PodwireError } from '@podwire/errors';
import { probeConnectivity } from './probe/run.js';
import { stationsOf } from './probe/testbed.js';
import type { Testbed } from './testbed.js';

/** Milliseconds for all nodes to know of each other. */
const settlePatience = 20_000;
const pause = 50;

/**
 * Resolves when a pod of each node reaches one of each other node, in each family.
 * @throws PodwireError TESTBED_FAILED naming who does not reach whom
 */
export async function settle(
  testbed: Testbed,
  signal?: AbortSignal,
  patience = settlePatience,
): Promise<void> {
  const firsts = testbed.nodes.map(({ name }) => testbed.pods.find(({ node }) => node === name));
  const pods = firsts.filter((pod) => pod !== undefined);
  const stations = stationsOf({ ...testbed, pods }).filter(({ kind }) => kind === 'pod');
  const end = performance.now() + patience;
  for (;;) {
    const { results } = await probeConnectivity(stations, [], {
      deadline: 600,
      choose: ({ kind }) => kind === 'udp',
      ...(signal === undefined ? {} : { signal }),
    });
    const failed = results.find(({ ok }) => !ok);
    if (failed === undefined) return;
    await sleep(pause);
    if (performance.now() > end) {
      const { from, to, fromNode, toNode, family, words } = failed;
      const message = `${from} on ${fromNode} does not reach ${to} on ${toNode} over IPv${family}: ${words}`;
      throw new PodwireError('TESTBED_FAILED', message);
    }
  }
}
