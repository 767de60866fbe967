import type { BlockOrder } from '@podwire/ipam';

/**
 * The order in which OpenShift SDN hands out the subnets of a range (openshift/sdn, subnet_allocator.go). Where subnet and host
 * share an octet, subnets that have zeros there come first, so that neighbours differ in the octet in front of it: of 10.1.0.0/16
 * with 6 bits for hosts 10.1.0.0/26, 10.1.1.0/26, …, 10.1.255.0/26 and then 10.1.0.64/26. The bits of the place are rotated for that.
 * @param hostBits bits of an address that number hosts, 2 to 30
 * @param subnetBits bits in front of them that number subnets, 30 at most
 */
export function rotatedOrder(hostBits: number, subnetBits: number): BlockOrder {
  const shared = 8 - (hostBits % 8);
  const isShared = hostBits % 8 !== 0 && subnetBits > shared;
  const left = isShared ? shared : 0;
  return {
    blockAt: (place) => rotateLeft(place, left, subnetBits),
    placeOf: (block) => rotateLeft(block, subnetBits - left, subnetBits),
  };
}

/** Of a number of `width` bits. Bits that a shift drops come back by the other one. */
const rotateLeft = (number: number, by: number, width: number): number =>
  by === 0 || by === width ? number : ((number << by) & (2 ** width - 1)) | (number >>> (width - by));
