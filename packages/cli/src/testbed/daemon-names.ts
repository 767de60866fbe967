/** Daemons of a testbed that `podwire testbed restart` starts again, by the names of their programs. Pure. */

/** Those of each node, as far as its model has them. */
export const nodeDaemons = ['agent', 'ovs-vswitchd', 'ovsdb-server', 'ovn-controller'] as const;
export type NodeDaemon = (typeof nodeDaemons)[number];

/** Those that a testbed of the model ovn has once. */
export const centralDaemons = ['northbound', 'southbound', 'ovn-northd', 'controller'] as const;
export type CentralDaemon = (typeof centralDaemons)[number];

/** The node of a central daemon only has to be there. */
export type DaemonName =
  | { readonly what: NodeDaemon; readonly node: string }
  | { readonly what: CentralDaemon; readonly node?: string };

/** @param words `NODE WHAT`, or `WHAT` of the central part. @returns undefined where they are neither */
export function readDaemonName(words: readonly string[]): DaemonName | undefined {
  const [what, node, ...more] = words.toReversed();
  if (what === undefined || more.length > 0) return undefined;
  if (isOneOf(centralDaemons, what)) return node === undefined ? { what } : { what, node };
  return isOneOf(nodeDaemons, what) && node !== undefined ? { what, node } : undefined;
}

const isOneOf = <T extends string>(names: readonly T[], name: string): name is T =>
  (names as readonly string[]).includes(name);
