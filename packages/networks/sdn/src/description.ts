/**
 * The part of the model that explains a bridge to people. The command line imports this file and nothing else of it:
 * a bridge of OpenShift SDN is explained on a node without an agent too.
 */
export { podMac } from './addresses.js';
export {
  describeDrop,
  describeNode,
  describeOutput,
  describeVnid,
  type FlowNames,
  type PacketOutput,
} from './pipeline/ends.js';
export { readNodeAddress } from './pipeline/routes.js';
export { describeTable } from './pipeline/tables.js';
export { type BridgeVersion, readVersion, RULE_VERSION } from './pipeline/version.js';
export { HOST_PORT, TUNNEL_PORT } from './ports.js';
