import type { NodeChange } from '@podwire/agent/offline';
import { type Colors, printable } from '../io.js';

/** Changes of a node that is put back, a line for each thing. */
export function describeNode(node: readonly NodeChange[], paint: Colors): string[] {
  return node.map(({ action, what }) => {
    const verb = action.padEnd(9);
    const painted = { failed: paint.red(verb), kept: paint.yellow(verb), restored: verb, removed: verb };
    return `${painted[action]}  ${printable(what)}`;
  });
}
