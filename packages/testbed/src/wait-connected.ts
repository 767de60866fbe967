/** Waits until pods of all nodes reach each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { probeConnectivity } from './probe/run.js';
import { stationsOf } from './probe/testbed.js';
import type { Testbed } from './testbed.js';

/** Milliseconds. */
const connectDeadline = 20_000;
const pause = 50;

/**
 * Resolves when a pod of each node reaches one of each other node, in each family.
 * @throws PodwireError TESTBED_FAILED naming a pair that has no connection
 */
export async function waitUntilConnected(
  testbed: Testbed,
  signal?: AbortSignal,
  patience = connectDeadline,
): Promise<void> {
  const firsts = testbed.nodes.map(({ name }) => testbed.pods.find(({ node }) => node === name));
  const pods = firsts.filter((pod) => pod !== undefined);
  const stations = stationsOf({ ...testbed, pods }).filter(({ kind }) => kind === 'pod');
  const end = performance.now() + patience;
  for (;;) {
    const { results } = await probeConnectivity(stations, [], {
      deadline: 600,
      choose: ({ kind }) => kind === 'udp',
      ...compact({ signal }),
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
