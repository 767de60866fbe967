import type { Backend } from '@podwire/engine';
import { createKindRegistry, type Kind } from '@podwire/engine';
import { type Clock, systemClock } from '@podwire/platform';
import { conntrackKinds, createConntrack } from './conntrack/index.js';
import { createEthtool, ethtoolKinds } from './ethtool/index.js';
import { type Kernel, PodNamespaces } from './kernel.js';
import { createNftables } from './nftables/index.js';
import { nftablesKinds } from './nftables/kinds.js';
import type { LinuxResources } from './resources.js';
import { createRtnetlink } from './rtnetlink/index.js';
import { rtnetlinkKinds } from './rtnetlink/kinds.js';
import { createSysctl, sysctlKinds } from './sysctl/index.js';
import { uplinkKinds } from './uplink/kind.js';

export {
  type Kernel,
  type KernelNamespace,
  type KernelOptions,
  type LinkFeatures,
  openIdentified,
  openKernel,
  type Sysctls,
} from './kernel.js';
export {
  ADDRESS_LABEL,
  isMarkedForDeletion,
  LIVE_GROUP,
  ROUTE_PROTOCOL,
  TABLE_PREFIX,
  uplinkOfAlias,
} from './marks.js';
export { createUplinkBackend } from './uplink/index.js';
export type * from './resources.js';
export { type LoggedPacket, openPacketLog, type PacketLog } from '@podwire/nftables';

/** Every kind of this package, by name. */
export const linuxKinds = {
  ...rtnetlinkKinds,
  ...sysctlKinds,
  ...ethtoolKinds,
  ...nftablesKinds,
  ...conntrackKinds,
  ...uplinkKinds,
} satisfies { [K in keyof LinuxResources]: Kind<LinuxResources[K]> };

/** The same for questions about resources, without a kernel. */
export const linuxRegistry = createKindRegistry(Object.values(linuxKinds));

/** A resource in a few words, for messages, traces and tables: `route 10.244.0.5/32 dev cali0123`. */
export const describeResource = linuxRegistry.describe;

/**
 * The backends of one kernel. The first that is closed closes the kernel.
 * @param clock for what waits for others: see `NeighbourAnswers`
 */
export function createLinuxBackends(kernel: Kernel, clock: Clock = systemClock): Backend[] {
  const pods = new PodNamespaces(kernel);
  let isClosed = false;
  const once: Kernel = {
    host: kernel.host,
    background: kernel.background,
    nftables: kernel.nftables,
    conntrack: kernel.conntrack,
    enter: (identity) => kernel.enter(identity),
    close() {
      if (!isClosed) kernel.close();
      isClosed = true;
    },
  };
  return [
    createRtnetlink(once, pods, clock),
    createSysctl(once, pods),
    createEthtool(once, pods),
    createNftables(once),
    createConntrack(once),
  ];
}
