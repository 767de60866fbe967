/** Events of nf_tables, as hints. */
import type { Hint } from '@podwire/engine';
import { Attributes, type NetlinkEvent } from '@podwire/netlink';
import { TABLE_PREFIX } from '../marks.js';
import { forwardKey } from '../nftables/forward-accept.js';
import { tableKey } from '../keys.js';

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

/** NFPROTO_*, the first byte of struct nfgenmsg. */
const families = new Map([
  [1, 'inet'],
  [2, 'ip'],
  [10, 'ip6'],
] as const);

/** The chain that iptables has for forwarding, and the one behind it that Podwire makes (forward-accept). */
const sharedChains: ReadonlySet<string | undefined> = new Set(['FORWARD', 'PODWIRE-FORWARD']);

/** Hints at our tables and at the chains that we share. A table is deleted with all that is in it, an event each. */
export function readFilterEvents(
  events: readonly NetlinkEvent[],
  isOwnPort: (port: number) => boolean,
): Hint[] {
  const foreign = events.filter(({ port, payload }) => payload.length >= NFGENMSG && !isOwnPort(port));
  const ports = new Map<string, number>();
  for (const event of foreign)
    for (const key of keysOf(event)) if (!ports.has(key)) ports.set(key, event.port);
  return [...ports].map(([key, port]) => ({
    keys: [key],
    ...markOf(key),
    by: describeCulprit(port, foreign),
  }));
}

const CONTENT = 'content of ';
const markOf = (key: string): Pick<Hint, 'marked'> => (key.startsWith(CONTENT) ? { marked: true } : {});

/** An addition to a table of ours is in no list, under whatever key: the content as a whole has no owner. */
function keysOf({ type, payload }: NetlinkEvent): string[] {
  const family = families.get(payload[0] as 1);
  if (type === NEW_GENERATION || family === undefined) return [];
  const attributes = new Attributes(payload, NFGENMSG);
  const name = attributes.text(TABLE) ?? '';
  if (name.startsWith(TABLE_PREFIX)) {
    const key = tableKey({ family, name });
    return [key, `${CONTENT}${key}`];
  }
  return name === 'filter' && isOfSharedChain(type, attributes) ? [forwardKey(family)] : [];
}

function isOfSharedChain(type: number, attributes: Attributes): boolean {
  if (type === DELETE_RULE) return sharedChains.has(attributes.text(CHAIN_OF_RULE));
  return (type === NEW_CHAIN || type === DELETE_CHAIN) && sharedChains.has(attributes.text(CHAIN_NAME));
}

/** Each transaction ends with a generation, which names the program. */
function describeCulprit(port: number, events: readonly NetlinkEvent[]): string {
  const end = events.find((event) => event.type === NEW_GENERATION && event.port === port);
  const name = end === undefined ? undefined : new Attributes(end.payload, NFGENMSG).text(GENERATION_PROGRAM);
  return name === undefined ? `port ${port}` : `${name} (process ${port})`;
}
