export type { NetlinkConnection, NetlinkFailure, NetlinkMessage, NetlinkRequest } from './connection.js';
export { DecodeError, describeFailure, NetlinkBatchError, NetlinkError } from './errors.js';
export {
  type ConnectionOptions,
  type NamespaceReference,
  openNetlinkConnection,
  openRouteConnection,
} from './socket.js';
export type { Family } from './ip-address.js';

// For messages that the library has no builder for.
export { type Attribute, Attributes, eachAttribute, readStructure } from './attributes.js';
export { PayloadWriter } from './payload.js';
export * from './protocol.js';

export {
  decodeInetSettings,
  decodeLink,
  getLink,
  type Link,
  type LinkFilter,
  type LinkReference,
  listLinks,
} from './link.js';
export type { LinkDetail, OperationalState } from './link.js';
export type { AddressGenerationMode, InetSetting } from './link-inet.js';
export type {
  BridgeSettings,
  KindSettings,
  MacvlanMode,
  MacvlanSettings,
  PlainKind,
  VxlanSettings,
} from './link-kinds.js';
export {
  createLink,
  deleteLink,
  deleteLinkGroup,
  type LinkAttributes,
  type LinkChanges,
  type NewKindLink,
  type NewLink,
  type NewVeth,
  renameLink,
  setLink,
} from './link-requests.js';
export type { DirectionStatistics, LinkStatistics } from './link-statistics.js';

export {
  addAddress,
  type AddressFilter,
  type AddressFlag,
  decodeAddress,
  deleteAddress,
  type InterfaceAddressEntry,
  listAddresses,
  type NewAddress,
  replaceAddress,
} from './address.js';

export {
  RT_TABLE_DEFAULT,
  RT_TABLE_LOCAL,
  RT_TABLE_MAIN,
  type RouteType,
  RTPROT_BOOT,
  RTPROT_KERNEL,
  RTPROT_STATIC,
  RTPROT_UNSPEC,
} from './route-attributes.js';
export { decodeRoute, type NextHop, type Route } from './route-decoder.js';
export {
  addRoute,
  appendRoute,
  deleteRoute,
  listRoutes,
  lookUpRoute,
  type NewNextHop,
  type NewRoute,
  replaceRoute,
  type RouteFilter,
} from './route.js';
export type { Scope } from './scope.js';

export {
  addRule,
  decodeRule,
  deleteRule,
  listRules,
  type NewRule,
  type Rule,
  type RuleAction,
} from './rule.js';

export {
  addNeighbour,
  addProxyNeighbour,
  decodeNeighbour,
  deleteNeighbour,
  deleteProxyNeighbour,
  getNeighbour,
  listNeighbours,
  type Neighbour,
  type NeighbourFilter,
  type NeighbourState,
  type NewNeighbour,
  type ProxyNeighbour,
  replaceNeighbour,
} from './neighbour.js';
export {
  addForwardingEntry,
  appendForwardingEntry,
  decodeForwardingEntry,
  deleteForwardingEntry,
  type ForwardingEntry,
  listForwardingEntries,
  type NewForwardingEntry,
  replaceForwardingEntry,
} from './forwarding.js';

export {
  CLSACT_EGRESS_FILTERS,
  CLSACT_INGRESS_FILTERS,
  INGRESS_FILTERS,
  TC_INGRESS,
  TC_ROOT,
  tcHandle,
} from './tc-attributes.js';
export {
  addQdisc,
  decodeQdisc,
  deleteQdisc,
  getQdisc,
  listQdiscs,
  type NewQdisc,
  type Qdisc,
  type QdiscPlace,
  type QueueStatistics,
  replaceQdisc,
} from './qdisc.js';
export {
  type HookSettings,
  type HtbSettings,
  type QdiscSettings,
  sameTokenBucket,
  type TokenBucketSettings,
} from './qdisc-settings.js';
export {
  addClass,
  decodeClass,
  deleteClass,
  type HtbClassSettings,
  listClasses,
  type NewHtbClass,
  replaceClass,
  type TrafficClass,
} from './traffic-class.js';
export {
  addFilter,
  ANY_PROTOCOL,
  decodeFilter,
  deleteFilter,
  deleteFilters,
  type Filter,
  type FilterAction,
  type FilterPlace,
  type FilterSettings,
  listFilters,
  type NewFilter,
} from './filter.js';
export type { MirredAction } from './mirred.js';
export type { U32Key } from './u32.js';
