/**
 * The node agent as it would be with one compare-and-set in the store for each pod: before an address is taken, the node's block is read
 * from etcd and written with one entry more, and again when somebody was faster. Everything else is the agent as it is. For
 * comparison only.
 */
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';
import { createNodeAddressing, type NodeAddressing, type NodeAddressingOptions } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';

/** What Calico keeps of one address, more or less. */
interface Entry {
  readonly handle: string;
  readonly node: string;
  readonly pod: string;
  readonly timestamp: string;
}

function withCompareAndSet(options: NodeAddressingOptions): NodeAddressing {
  const addressing = createNodeAddressing(options);
  const { store, node } = options;
  const key = `/bench/blocks/${node}`;

  async function writeEntry(pod: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const item = await store.get(key, { signal });
      const entries = item === undefined ? [] : (JSON.parse(item.value) as Entry[]);
      const entry = { handle: `k8s-pod-network.${pod}`, node, pod, timestamp: new Date().toISOString() };
      // A block has 64 addresses.
      const value = JSON.stringify([...entries, entry].slice(-64));
      try {
        await store.put(key, value, { expect: item?.revision ?? 'absent', signal });
        return;
      } catch (error) {
        if (!(error instanceof PodwireError) || error.code !== 'STORE_CONFLICT') throw error;
      }
    }
  }

  // One after the other on each node, as calico-ipam's lock has it: else they would only trip over each other.
  let last: Promise<void> = Promise.resolve();
  return {
    ...addressing,
    hasWorkload: () => true,
    async addressesFor(_network, { namespace, name }, _families, signal) {
      const turn = last.then(() => writeEntry(`${namespace}/${name}`, signal));
      last = turn.catch(() => undefined);
      await turn;
      return undefined;
    },
    noteAssigned: () => undefined,
    noteUnassigned: () => undefined,
  };
}

const { values } = parseArgs({ options: { config: { type: 'string' } } });
if (values.config === undefined)
  throw new Error('--config FILE is needed: never an agent on the machine itself');
await runAgent(loadConfig(values.config), { createAddressing: withCompareAndSet });
