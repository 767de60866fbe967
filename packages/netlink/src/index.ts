export type { NetlinkConnection, NetlinkFailure, NetlinkMessage, NetlinkRequest } from './connection.js';
export { DecodeError, describeFailure, NetlinkBatchError, NetlinkError } from './errors.js';
export {
  type ConnectionOptions,
  openNetlinkConnection,
  openRouteConnection,
  type RouteConnectionOptions,
} from './socket.js';
export type { NamespaceReference } from '@podwire/linux';
export {
  type EventOptions,
  type NetlinkEvent,
  type NetlinkEvents,
  NFTABLES_GROUP,
  openNetlinkEvents,
  type ReadEvents,
  routeGroups,
} from './events.js';
export type { Family } from './ip-address.js';

// For messages that the library has no builder for.
export { type Attribute, Attributes, eachAttribute, readStructure } from './attributes.js';
export { PayloadWriter } from './payload.js';
export * from './protocol.js';

export {
  type BoundSocket,
  boundSocketsRequest,
  decodeBoundSocket,
  listBoundSockets,
  openSocketConnection,
} from './bound-sockets.js';

export {
  decodeInetSettings,
  decodeLink,
  getLinkRequest,
  type Link,
  type LinkFilter,
  type LinkReference,
  listLinks,
} from './link.js';
export type { LinkDetail, OperationalState } from './link.js';
export type { AddressGenerationMode, InetSetting, InetSettings } from './link-inet.js';
export type {
  BridgeSettings,
  KindSettings,
  MacvlanMode,
  MacvlanSettings,
  PlainKind,
  VxlanSettings,
} from './link-kinds.js';
export {
  createLinkRequest,
  deleteLinkRequest,
  deleteLinkGroupRequest,
  type LinkAttributes,
  type LinkChanges,
  type NewKindLink,
  type NewLink,
  type NewVeth,
  renameLinkRequest,
  setLinkRequest,
} from './link-requests.js';
export type { DirectionStatistics, LinkStatistics } from './link-statistics.js';

export {
  addAddressRequest,
  type AddressFilter,
  type AddressFlag,
  decodeAddress,
  deleteAddressRequest,
  type InterfaceAddressEntry,
  listAddresses,
  listAddressMessages,
  type NewAddress,
  replaceAddressRequest,
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
  addRouteRequest,
  appendRouteRequest,
  deleteRouteRequest,
  listRouteMessages,
  listRoutes,
  lookUpRouteRequest,
  type NewNextHop,
  type NewRoute,
  replaceRouteRequest,
  type RouteFilter,
  type RouteQuery,
} from './route.js';
export { createLink, lookUpRoute, readLink, readNeighbour, readQdisc } from './read.js';
export type { Scope } from './scope.js';

export {
  addRuleRequest,
  decodeRule,
  deleteRuleRequest,
  listRuleMessages,
  listRules,
  type NewRule,
  type Rule,
  type RuleAction,
} from './rule.js';

export {
  type LinkName,
  repeatAddressRequests,
  repeatRouteRequest,
  repeatRuleRequest,
  type Transfer,
  withdrawRouteRequest,
  withdrawRuleRequest,
} from './transfer.js';

export {
  addNeighbourRequest,
  addProxyNeighbourRequest,
  decodeNeighbour,
  deleteNeighbourRequest,
  deleteProxyNeighbourRequest,
  getNeighbourRequest,
  listNeighbours,
  type Neighbour,
  type NeighbourFilter,
  type NeighbourState,
  type NewNeighbour,
  probeNeighbourRequest,
  type ProxyNeighbour,
  replaceNeighbourRequest,
  resolveNeighbourRequest,
} from './neighbour.js';
export {
  addForwardingEntryRequest,
  appendForwardingEntryRequest,
  decodeForwardingEntry,
  deleteForwardingEntryRequest,
  type ForwardingEntry,
  listForwardingEntries,
  type NewForwardingEntry,
  replaceForwardingEntryRequest,
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
  addQdiscRequest,
  decodeQdisc,
  deleteQdiscRequest,
  getQdiscRequest,
  listQdiscs,
  type NewQdisc,
  type Qdisc,
  type QdiscPlace,
  type QueueStatistics,
  replaceQdiscRequest,
} from './qdisc.js';
export {
  type HookSettings,
  type HtbSettings,
  type QdiscSettings,
  sameTokenBucket,
  type TokenBucketSettings,
} from './qdisc-settings.js';
export {
  addClassRequest,
  decodeClass,
  deleteClassRequest,
  type HtbClassSettings,
  listClasses,
  type NewHtbClass,
  replaceClassRequest,
  type TrafficClass,
} from './traffic-class.js';
export {
  addFilterRequest,
  ANY_PROTOCOL,
  decodeFilter,
  deleteFilterRequest,
  deleteFiltersRequest,
  type Filter,
  type FilterAction,
  type FilterPlace,
  type FilterSettings,
  listFilters,
  type NewFilter,
} from './filter.js';
export type { MirredAction } from './mirred.js';
export type { U32Key } from './u32.js';
