import { createHash } from 'node:crypto';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { tunnel } from './tunnel.js';

/**
 * Every host-side pod interface begins with this (Calico's FELIX_INTERFACEPREFIX). The packet filter knows pods by it,
 * so that it needs no element for each pod and drops packets from an interface that no plan has.
 */
export const podLinkPrefix = 'cali';

/**
 * Links through which a node forwards packets of pods; `*` stands for the rest of a name.
 * @param more those of the models (`NetworkModel.forwardingLinks`)
 */
export const forwardingLinks = (more: readonly string[]): readonly string[] => [
  ...new Set([`${podLinkPrefix}*`, tunnel.link, ...more]),
];

/** Begins the name of an ifb, which shapes what one pod sends. */
export const ifbPrefix = 'pwi';

/** IFNAMSIZ is 16 with the terminating zero (netdevice(7)). */
export const maxLinkName = 15;

/** The prefix and as many hexadecimal digits of SHA-1(text) as fit a link name. */
export function digestName(prefix: string, text: string): string {
  return (prefix + createHash('sha1').update(text).digest('hex')).slice(0, maxLinkName);
}

/** A number of 28 bits that stands for the text, e.g. to tell metrics apart. */
export function digestNumber(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE(0) >>> 4;
}

/** The ifb of an endpoint: 48 bits of its whole identity, so no two endpoints share one. */
export function ifbName(id: EndpointId): string {
  return digestName(ifbPrefix, endpointKey(id));
}
