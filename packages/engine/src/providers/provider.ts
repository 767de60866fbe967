import type { NetlinkRequest } from '@podwire/netlink';
import type { View } from '../observe.js';
import type { Session } from '../session.js';

/**
 * How a resource differs from the kernel: it is not there at all, or it is there and other (in words), or something else is in
 * its place that is not ours to replace.
 */
export type Difference = { readonly missing: string } | { readonly foreign: string } | string;

/**
 * What one kind of resource is in rtnetlink's terms. Resources that travel another way (parameters, nftables,
 * connection tracking) have only `compare`; how they are made stands in run-step.ts.
 */
export interface Provider<R> {
  create(resource: R, session: Session): readonly NetlinkRequest[];
  /** Makes what is there and differs agree; `create` when absent. */
  replace?(resource: R, session: Session): readonly NetlinkRequest[];
  /** What an absent thing answers (ENOENT, ESRCH, …) is no failure. */
  remove(resource: R, session: Session): readonly NetlinkRequest[];
  /** `undefined` when the kernel has what the resource asks for. Reads only. */
  compare(resource: R, view: View): Difference | undefined;
}
