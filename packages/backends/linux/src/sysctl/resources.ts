import type { Place } from '../places.js';

/** A kernel parameter. `key` is below /proc/sys, with slashes: `net/ipv4/ip_forward`. */
export interface Sysctl {
  readonly kind: 'sysctl';
  readonly in: Place;
  readonly key: string;
  readonly value: string;
  /** A parameter that this kernel does not have is no error. */
  readonly optional?: boolean;
  /** Set when the list is applied and never compared: what becomes of it afterwards is up to the pod. */
  readonly initial?: boolean;
  /** Keys of resources that must be there first, and without which it is not repaired. */
  readonly after?: readonly string[];
}

/** The kinds of this backend, by name. */
export interface SysctlResources {
  sysctl: Sysctl;
}
