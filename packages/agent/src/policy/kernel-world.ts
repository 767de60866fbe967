/** Policy on the real node: where objects are, the compiler, the packet filter, the connection tracking table, the log group. */
import { type Kernel, openPacketLog, type LoggedPacket } from '@podwire/backend-linux';
import { lockFile } from '@podwire/linux';
import { createPolicyRenderer, policyTable } from '@podwire/network-policy';
import { readLink } from '@podwire/netlink';
import { createDirectorySource, createStoreSource, type ObjectSource } from '@podwire/objects';
import { compact, systemClock } from '@podwire/platform';
import { createCompiler, Translator } from '@podwire/policy';
import type { Store } from '@podwire/store';
import type { AgentConfig } from '../config/index.js';
import type { DroppedPacket, PolicyWorld } from './contract.js';
import { createConntrackCuts } from './kernel-conntrack.js';

/** @param store of the cluster; absent on a node that is alone */
export const openPolicyWorld = (
  config: AgentConfig,
  kernel: Pick<Kernel, 'conntrack' | 'host' | 'nftables'>,
  store: Store | undefined,
): PolicyWorld => ({
  source: openSource(config, store),
  createCompiler,
  createRenderer: createPolicyRenderer,
  createTranslator: () => new Translator(),
  conntrack: createConntrackCuts(kernel),
  openDrops: followDrops,
  readLinkName: (index) => readLink(kernel.host.route, index)?.name,
  readCounts: () => kernel.nftables.readCounters(policyTable.family, policyTable.name),
  clock: systemClock,
});

function openSource({ cluster, objects }: AgentConfig, store: Store | undefined): ObjectSource {
  if (cluster === undefined || store === undefined)
    return createDirectorySource({ directory: objects.directory, clock: systemClock, lock: lockFile });
  return createStoreSource({ store, root: cluster.root, clock: systemClock });
}

async function* followDrops(group: number, signal: AbortSignal): AsyncIterable<DroppedPacket> {
  const log = openPacketLog({ group });
  try {
    for await (const logged of log.follow(signal)) yield describe(logged);
  } finally {
    log.close();
  }
}

function describe({ prefix, packet, inLink: inputLink }: LoggedPacket): DroppedPacket {
  const { source, destination, protocol, sourcePort, destinationPort } = packet ?? {};
  return { prefix, ...compact({ source, destination, protocol, sourcePort, destinationPort, inputLink }) };
}
