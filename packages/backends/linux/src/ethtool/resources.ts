import type { Place } from '../places.js';

/**
 * A feature of a link, as `ethtool -K` switches it. With `tx-checksumming` off the kernel itself completes the checksums of what is
 * sent through the link. With it on they are left to the device, and a program that takes packets from a link gets them
 * incomplete.
 */
export interface LinkFeature {
  readonly kind: 'link-feature';
  readonly in: Place;
  readonly link: string;
  readonly feature: 'tx-checksumming';
  readonly on: boolean;
}

/** The kinds of this backend, by name. */
export interface EthtoolResources {
  'link-feature': LinkFeature;
}
