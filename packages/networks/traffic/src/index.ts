export { planBandwidth } from './bandwidth.js';
export { planForwardAccept } from './forward-accept.js';
export { claimsConflict, describeClaim, type HostPortClaim, hostPortClaims } from './host-port-claims.js';
export { planForwarding } from './forwarding.js';
export { planHostPorts } from './host-ports.js';
export { digestName, digestNumber, ifbName, ifbPrefix, maxLinkName, podLinkPrefix } from './link-names.js';
export { planNodeTraffic } from './node-traffic.js';
export { packetFilter } from './packet-filter.js';
export { trafficTable } from './traffic-table.js';
export { isSource, planSources } from './sources.js';
export {
  addressIn,
  needsTunnel,
  travelsInVxlan,
  tunnel,
  tunnelEnd,
  tunnelFamily,
  tunnelOverhead,
  tunnelPeerElement,
} from './tunnel.js';
