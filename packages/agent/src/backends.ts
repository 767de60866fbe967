/** The backends of this node. With resource-kinds.ts the only place that joins them. */
import { createLinuxBackends, createUplinkBackend, type Kernel } from '@podwire/backend-linux';
import type { Backend } from '@podwire/engine';
import type { NetworkModel } from '@podwire/network-contract';
import type { AgentConfig } from './config/index.js';

/** Opens them on the node's kernel, and on Open vSwitch if a network of the configuration needs it. */
export async function openBackends(
  kernel: Kernel,
  { networks, openvswitch: { runDir } }: Pick<AgentConfig, 'networks' | 'openvswitch'>,
  models: ReadonlyMap<string, Pick<NetworkModel, 'bridges'>>,
): Promise<Backend[]> {
  const linux = createLinuxBackends(kernel);
  const bridges = networks.flatMap(({ model }) => models.get(model)?.bridges ?? []);
  if (networks.every(({ model }) => models.get(model)?.bridges === undefined)) return linux;
  // Only here: other nodes have no use for it in their memory.
  const { openSwitchBackends } = await import('./switch-backends.js');
  return [...linux, ...openSwitchBackends(runDir, [...new Set(bridges)]), createUplinkBackend(kernel)];
}
