/** Objects that no flows can be planned from are refused as a whole. */
import { parseAddress, parsePrefix } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { highestVnid, isVnid } from '@podwire/objects/vnid';
import { HOST_PORT } from './ports.js';
import type { SdnNode, SdnPeer, SdnPod } from './types.js';

/** Ports of OpenFlow end there; above are the reserved ones. */
const LAST_PORT = 0xfeff;

const refuse = (message: string, options: { readonly cause?: unknown } = {}): never => {
  throw new PodwireError('OBJECT_INVALID', message, options);
};

function requireIPv4(what: string, text: string, readFamily: (text: string) => 4 | 6): void {
  let family: 4 | 6;
  try {
    family = readFamily(text);
  } catch (cause) {
    return refuse(`${what}: ${(cause as Error).message}`, { cause });
  }
  if (family === 6) refuse(`${what}: ${text} is IPv6, and the model sdn has IPv4 alone`);
}

const requireAddress = (what: string, text: string): void =>
  requireIPv4(what, text, (address) => parseAddress(address).family);
const requirePrefix = (what: string, text: string): void =>
  requireIPv4(what, text, (prefix) => parsePrefix(prefix).family);

function requireVnid(what: string, vnid: number): void {
  if (!isVnid(vnid)) refuse(`${what}: VNID ${String(vnid)} is not between 0 and ${highestVnid}`);
}

/** @throws PodwireError OBJECT_INVALID naming the field */
export function checkNode(node: SdnNode): void {
  requireAddress('address of the node', node.address);
  requirePrefix('subnet of the node', node.subnet);
  for (const network of node.clusterNetworks) requirePrefix('cluster network', network);
  requirePrefix('service network', node.serviceNetwork);
  const { nodeMac, gatewayMac } = node.migration ?? {};
  // Table 10 would give packets the address that they have, and look them up without end.
  if (nodeMac !== undefined && nodeMac === gatewayMac)
    refuse(`node and gateway have one MAC address: ${nodeMac}`);
}

/** @throws PodwireError OBJECT_INVALID naming the pod by its address */
export function checkPod({ ip, port, vnid }: SdnPod): void {
  requireAddress('address of a pod', ip);
  requireVnid(`pod ${ip}`, vnid);
  // Open vSwitch shows -1 for a port that it could not make; the first two are the tunnel and the node.
  if (!Number.isInteger(port) || port <= HOST_PORT || port > LAST_PORT)
    refuse(`pod ${ip}: ${port} is no port of a pod`);
}

/** @throws PodwireError OBJECT_INVALID naming the peer by its address */
export function checkPeer({ address, subnet, fixedVnid }: SdnPeer): void {
  requireAddress('address of a node', address);
  requirePrefix(`subnet of node ${address}`, subnet);
  if (fixedVnid !== undefined) requireVnid(`node ${address}`, fixedVnid);
}

/** @throws PodwireError OBJECT_INVALID */
export const checkProject = (vnid: number): void => requireVnid('project', vnid);
