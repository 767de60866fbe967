/** What the agent does first: it learns from the records what exists on this node. */
import { endpointKey } from '@podwire/engine';
import type { EndpointContext } from './endpoints/context.js';
import type { AgentRecord } from './endpoints/registry.js';

/**
 * Reads every record into memory. Returns what is wrong with the files, in words. Addresses are taken over by the first
 * reconcile, when it is known which of these endpoints stay.
 */
export function loadRecords(context: EndpointContext): string[] {
  const { records, broken } = context.records.readAll();
  for (const record of records as AgentRecord[]) {
    context.endpoints.put(record);
    context.ports.claim(record);
  }
  const keys = new Set(records.map(({ id }) => endpointKey(id)));
  return broken.flatMap(({ name, reason }) => clearBroken(context, name, reason, keys));
}

/**
 * A torn `.wiring` file means that nothing was applied yet (docs/decisions/0003): it goes. Any other file that cannot be
 * read stays for people to look at.
 */
function clearBroken(
  context: EndpointContext,
  name: string,
  reason: string,
  intact: ReadonlySet<string>,
): string[] {
  const torn = /^([^,]+),([^,]+),([^,]+)\.wiring$/.exec(name);
  if (torn !== null && !intact.has(name.slice(0, -'.wiring'.length))) {
    context.log.info({ file: name, reason }, 'deleting a record that was never finished');
    const id = { network: torn[1]!, containerId: torn[2]!, ifName: torn[3]! };
    context.records.delete({ id, phase: 'wiring' });
    return [];
  }
  context.log.error({ file: name, reason }, 'a file in the directory of records cannot be used');
  return [`${name}: ${reason}`];
}
