/** Events of nf_tables. */
import { Attributes, type NetlinkEvent } from '@podwire/netlink';
import { TABLE_PREFIX } from '../marks.js';
import type { Culprit, Disturbance } from './disturbance.js';

/** NFT_MSG_* with the subsystem in front (include/uapi/linux/netfilter/nf_tables.h); struct nfgenmsg comes first. */
const message = (number: number): number => (10 << 8) | number;
const NEW_CHAIN = message(3);
const DELETE_CHAIN = message(5);
const DELETE_RULE = message(8);
const NEW_GENERATION = message(15);
const NFGENMSG = 4;
const TABLE = 1;
const CHAIN_OF_RULE = 2;
const CHAIN_NAME = 3;
const GENERATION_PROGRAM = 3;

/** The chain that iptables has for forwarding, and the one behind it that Podwire makes (forward-accept). */
const sharedChains: ReadonlySet<string | undefined> = new Set(['FORWARD', 'PODWIRE-FORWARD']);

/** What in these events is of interest: one for each program that had a hand in our tables or in a chain that we share. */
export function readFilterEvents(
  events: readonly NetlinkEvent[],
  isOwnPort: (port: number) => boolean,
): Disturbance[] {
  const foreign = events.filter(({ port, payload }) => payload.length >= NFGENMSG && !isOwnPort(port));
  const found = foreign.flatMap((event): Disturbance[] => {
    const sort = sortOf(event);
    return sort === undefined ? [] : [{ sort, by: culpritOf(event, foreign) }];
  });
  // A table is deleted with all that is in it, an event each.
  return [...new Map(found.map((each) => [`${each.sort} ${each.by.port}`, each])).values()];
}

function sortOf({ type, payload }: NetlinkEvent): 'table' | 'shared-chain' | undefined {
  if (type === NEW_GENERATION) return undefined;
  const attributes = new Attributes(payload, NFGENMSG);
  const table = attributes.text(TABLE);
  if (table?.startsWith(TABLE_PREFIX) === true) return 'table';
  if (table !== 'filter') return undefined;
  if (type === DELETE_RULE)
    return sharedChains.has(attributes.text(CHAIN_OF_RULE)) ? 'shared-chain' : undefined;
  const isChain = type === NEW_CHAIN || type === DELETE_CHAIN;
  return isChain && sharedChains.has(attributes.text(CHAIN_NAME)) ? 'shared-chain' : undefined;
}

/** Each transaction ends with a generation, which names the program. */
function culpritOf({ port }: NetlinkEvent, events: readonly NetlinkEvent[]): Culprit {
  const end = events.find((event) => event.type === NEW_GENERATION && event.port === port);
  const name = end === undefined ? undefined : new Attributes(end.payload, NFGENMSG).text(GENERATION_PROGRAM);
  return name === undefined ? { port } : { port, name };
}
