import type { Family } from '@podwire/addresses';

/** Every host side has this MAC, so that a pod's neighbour entry for its gateway never changes (Calico's choice). */
export const hostMac = 'ee:ee:ee:ee:ee:ee';

/** Gateways of pods: no address of any subnet, the same in every pod. The IPv6 one is the link-local of `hostMac`. */
export const gateways: Readonly<Record<Family, string>> = {
  4: '169.254.1.1',
  6: 'fe80::ecee:eeff:feee:eeee',
};

export const defaultRoutes: Readonly<Record<Family, string>> = { 4: '0.0.0.0/0', 6: '::/0' };
