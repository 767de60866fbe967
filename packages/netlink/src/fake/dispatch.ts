/** Which handler answers which message. Numbers are RTM_NEWx + 0 new, 1 delete, 2 get, 3 set. */
import { RTM_DELADDR, RTM_GETADDR, RTM_NEWADDR } from '../address.js';
import type { NetlinkMessage } from '../connection.js';
import { RTM_DELLINK, RTM_GETLINK, RTM_NEWLINK, RTM_SETLINK } from '../link-attributes.js';
import { RTM_DELNEIGH, RTM_GETNEIGH, RTM_NEWNEIGH } from '../neighbour-attributes.js';
import { NLM_F_DUMP, NLM_F_ECHO } from '../protocol.js';
import { RTM_DELROUTE, RTM_GETROUTE, RTM_NEWROUTE } from '../route-attributes.js';
import { RTM_DELRULE, RTM_GETRULE, RTM_NEWRULE } from '../rule.js';
import * as tc from '../tc-attributes.js';
import { deleteAddress, dumpAddresses, newAddress } from './addresses.js';
import { deleteClass, dumpClasses, newClass } from './classes.js';
import { FakeErrno } from './errno.js';
import { deleteFilter, dumpFilters, newFilter } from './filters.js';
import { deleteLinks, dumpLinks, getLink, newLink, setLink } from './links.js';
import { deleteNeighbour, dumpNeighbours, getNeighbour, newNeighbour } from './neighbours.js';
import { deleteQdisc, dumpQdiscs, getQdisc, newQdisc } from './qdiscs.js';
import { lookUpRoute } from './route-lookup.js';
import { deleteRoute, dumpRoutes, newRoute } from './routes.js';
import { deleteRule, dumpRules, newRule } from './rules.js';
import type { FakeContext } from './state.js';

/** Carries a request out and returns the payloads of the answers. @throws FakeErrno */
type Handler = (context: FakeContext, message: NetlinkMessage) => Buffer[];

const handlers = new Map<number, Handler>([
  [RTM_NEWLINK, newLink],
  [RTM_DELLINK, deleteLinks],
  [RTM_GETLINK, getLink],
  [RTM_SETLINK, setLink],
  [RTM_NEWADDR, newAddress],
  [RTM_DELADDR, deleteAddress],
  [RTM_NEWROUTE, newRoute],
  [RTM_DELROUTE, deleteRoute],
  [RTM_GETROUTE, lookUpRoute],
  [RTM_NEWRULE, newRule],
  [RTM_DELRULE, deleteRule],
  [RTM_NEWNEIGH, newNeighbour],
  [RTM_DELNEIGH, deleteNeighbour],
  [RTM_GETNEIGH, getNeighbour],
  [tc.RTM_NEWQDISC, newQdisc],
  [tc.RTM_DELQDISC, deleteQdisc],
  [tc.RTM_GETQDISC, getQdisc],
  [tc.RTM_NEWTCLASS, newClass],
  [tc.RTM_DELTCLASS, deleteClass],
  [tc.RTM_NEWTFILTER, newFilter],
  [tc.RTM_DELTFILTER, deleteFilter],
]);

const dumpers = new Map<number, Handler>([
  [RTM_GETLINK, dumpLinks],
  [RTM_GETADDR, dumpAddresses],
  [RTM_GETROUTE, dumpRoutes],
  [RTM_GETRULE, dumpRules],
  [RTM_GETNEIGH, dumpNeighbours],
  [tc.RTM_GETQDISC, dumpQdiscs],
  [tc.RTM_GETTCLASS, dumpClasses],
  [tc.RTM_GETTFILTER, dumpFilters],
]);

/** Get requests end in binary 10; only for them are the bits of NLM_F_DUMP a dump. */
const isGet = (type: number): boolean => (type & 3) === 2;

export const isDump = ({ type, flags }: NetlinkMessage): boolean =>
  isGet(type) && (flags & NLM_F_DUMP) === NLM_F_DUMP;

/** Answers are of the type that makes such an object. */
export const answerType = (type: number): number => type & ~3;

/** @throws FakeErrno */
export function dispatch(context: FakeContext, message: NetlinkMessage): Buffer[] {
  const handler = (isDump(message) ? dumpers : handlers).get(message.type);
  if (handler === undefined) throw new FakeErrno('EOPNOTSUPP');
  const answers = handler(context, message);
  return isGet(message.type) || (message.flags & NLM_F_ECHO) !== 0 ? answers : [];
}
