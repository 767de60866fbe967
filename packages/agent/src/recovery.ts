/** What the agent does first: it learns from the records what exists on this node. */
import { endpointKey } from '@podwire/engine';
import { describeError } from '@podwire/errors';
import type { EndpointContext } from './endpoints/context.js';
import type { AgentRecord } from './endpoints/registry.js';

/**
 * Reads every record and takes over its addresses and ports, also of those that are about to be removed: until then the
 * kernel may still have them. Returns what is not as it should be, in words.
 */
export function loadRecords(context: EndpointContext): string[] {
  const { records, broken } = context.records.readAll();
  const problems = records.toSorted(byAge).flatMap((record) => takeOver(context, record as AgentRecord));
  const keys = new Set(records.map(({ id }) => endpointKey(id)));
  return [...problems, ...broken.flatMap(({ name, reason }) => clearBroken(context, name, reason, keys))];
}

/** Where two records claim one address, the endpoint that is complete keeps it, or else the older one. */
function byAge(a: { phase: string; createdAt: number }, b: { phase: string; createdAt: number }): number {
  const rank = (phase: string): number => (phase === 'ready' ? 0 : 1);
  return rank(a.phase) - rank(b.phase) || a.createdAt - b.createdAt;
}

function takeOver(context: EndpointContext, record: AgentRecord): string[] {
  context.endpoints.put(record);
  context.ports.claim(record);
  const network = context.networks.find(({ view }) => view.name === record.endpoint.network);
  // The network was taken out of the configuration. The endpoint lives on; nobody hands its address out.
  if (network === undefined) return [];
  const owner = endpointKey(record.id);
  return record.leases.flatMap(({ address, pool }) => {
    try {
      network.ipam.adopt({ address, pool, owner, since: record.createdAt });
      return [];
    } catch (err) {
      context.log.error({ err, endpoint: owner, address }, 'an address is claimed twice');
      return [`${owner}: ${describeError(err)}`];
    }
  });
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
    context.records.delete({ network: torn[1]!, containerId: torn[2]!, ifName: torn[3]! });
    return [];
  }
  context.log.error({ file: name, reason }, 'a file in the directory of records cannot be used');
  return [`${name}: ${reason}`];
}
