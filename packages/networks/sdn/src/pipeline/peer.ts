import { createHash } from 'node:crypto';
import type { Flow } from '@podwire/openflow';
import { checkPeer } from '../check.js';
import type { SdnPeer } from '../types.js';
import { arp, flow, goTo, ip, keepVnid, replaceVnid, sendTo } from './flows.js';

/** Names the flows of a node: the first four bytes of the SHA-256 of its HostSubnet's UID, as in OpenShift. */
export const peerCookie = (uid: string): string =>
  `0x${createHash('sha256').update(uid).digest().readUInt32BE(0).toString(16)}`;

/**
 * Plans the flows to and from another node, all with its cookie. Multicast is left out: see `planMulticastToPeers`.
 * @throws PodwireError OBJECT_INVALID for what is no IPv4 address, prefix or VNID
 */
export function planPeerFlows(peer: SdnPeer): Flow[] {
  checkPeer(peer);
  const { uid, address, subnet, fixedVnid } = peer;
  const setVnid = fixedVnid === undefined ? keepVnid : replaceVnid(fixedVnid);
  const tunnel = { actions: [setVnid, ...sendTo(address)] };
  const flows = [
    flow('fromPeer', 100, { tun_src: address }, goTo('commit')),
    flow('arpToPeer', 100, arp({ arp_tpa: subnet }), tunnel),
    flow('toPeer', 100, ip({ ip_dst: subnet }), tunnel),
  ];
  const cookie = peerCookie(uid);
  return flows.map((each) => ({ ...each, cookie }));
}
