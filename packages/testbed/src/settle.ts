/** Waiting until the nodes know of each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PodwireError } from '@podwire/errors';
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
  const firsts = new Set(
    testbed.nodes.flatMap(({ name }) => {
      const pod = testbed.pods.find(({ node }) => node === name);
      return pod === undefined ? [] : [`${pod.namespace}/${pod.name}`];
    }),
  );
  const end = performance.now() + patience;
  for (;;) {
    const { results } = await testbed.matrix({
      deadline: 600,
      choose: ({ kind, from, to }) => kind === 'udp' && firsts.has(from.name) && firsts.has(to.name),
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
