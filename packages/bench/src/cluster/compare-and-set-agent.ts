/**
 * The node agent as it would be with one compare-and-set in the store for each pod, before it takes an address. Everything else is the
 * agent as it is. For comparison only.
 */
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';
import { createNodeAddressing, type NodeAddressing, type NodeAddressingOptions } from '@podwire/cluster-ipam';
import { createEntryWriter } from './compare-and-set.js';

function withCompareAndSet(options: NodeAddressingOptions): NodeAddressing {
  const addressing = createNodeAddressing(options);
  const writer = createEntryWriter(options.store, options.node);
  return Object.assign(addressing, {
    hasWorkload: () => true,
    async addressesFor(_network, { namespace, name }, _families, signal) {
      await writer.write(`${namespace}/${name}`, signal);
      return undefined;
    },
    noteAssigned: () => undefined,
    noteUnassigned: () => undefined,
  } satisfies Partial<NodeAddressing>);
}

const { values } = parseArgs({ options: { config: { type: 'string' } } });
if (values.config === undefined)
  throw new Error('--config FILE is needed: never an agent on the machine itself');
await runAgent(loadConfig(values.config), { createAddressing: withCompareAndSet });
