import type { DropReason } from '@podwire/network-policy';
import { compact } from '@podwire/platform';
import type { Drop, DroppedPacket } from '../contract.js';

export interface DropFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly reason: DropReason | undefined;
  /** Undefined for addresses of others. */
  readonly nameOf: (address: string) => string | undefined;
  /** By index; undefined for a link that is not there any more. */
  readonly linkOf: (index: number) => string | undefined;
}

export function describeDrop(packet: DroppedPacket, { now, reason, nameOf, linkOf }: DropFacts): Drop {
  const { source, destination, protocol, sourcePort, destinationPort, inputLink } = packet;
  const called = (address: string | undefined): string | undefined =>
    address === undefined ? undefined : (nameOf(address) ?? address);
  return {
    time: new Date(now).toISOString(),
    ...compact({
      direction: reason?.direction,
      reason: reason?.reason,
      policy: reason?.policy,
      tier: reason?.tier,
      from: called(source),
      to: called(destination),
      ...{ source, destination, protocol, sourcePort, destinationPort },
      inputLink: inputLink === undefined ? undefined : linkOf(inputLink),
    }),
  };
}
