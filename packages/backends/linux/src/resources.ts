/**
 * The models' view of this backend: resources as plain data. They are written into endpoint records as JSON, so every
 * field is a string, number, boolean or an array or object of these. Addresses and prefixes are text.
 *
 * The order of a list is its order of creation; removal runs in reverse. Neighbours in the list that travel through the
 * same kernel interface in the same namespace share a call, so a model groups them where it can.
 */
import type { ConntrackResources } from './conntrack/resources.js';
import type { EthtoolResources } from './ethtool/resources.js';
import type { NftablesResources } from './nftables/resources.js';
import type { RtnetlinkResources } from './rtnetlink/resources.js';
import type { SysctlResources } from './sysctl/resources.js';
import type { UplinkResources } from './uplink/resources.js';

export type * from './conntrack/resources.js';
export type * from './nftables/resources.js';
export type * from './ethtool/resources.js';
export type { Place } from './places.js';
export type * from './rtnetlink/resources.js';
export type * from './sysctl/resources.js';
export type * from './uplink/resources.js';

export interface LinuxResources
  extends
    RtnetlinkResources,
    SysctlResources,
    EthtoolResources,
    NftablesResources,
    ConntrackResources,
    UplinkResources {}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends LinuxResources {}
}
