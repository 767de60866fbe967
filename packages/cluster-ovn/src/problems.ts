/** Coded errors of plans. */
import { PodwireError } from '@podwire/errors';

/** Something contradicts something else, or asks for what it cannot have; all of it is left as it is. */
export const conflict = (message: string): PodwireError => new PodwireError('OVN_CONFLICT', message);

export const noAddress = (owner: string, subnet: string, cidr: string): PodwireError =>
  new PodwireError('OVN_EXHAUSTED', `no address is free for ${owner} in subnet ${subnet} (${cidr})`, {
    action: 'Delete pods that are not needed any more, or take less out with excludeIps of the Subnet.',
  });

export const noPoolAddress = (owner: string, pool: string): PodwireError =>
  new PodwireError('OVN_EXHAUSTED', `no address is free for ${owner} in its ip_pool ${pool}`, {
    action: 'Give the annotation ovn.kubernetes.io/ip_pool more addresses.',
  });
