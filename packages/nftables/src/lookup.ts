import {
  NetlinkBatchError,
  type NetlinkConnection,
  type NetlinkMessage,
  type NetlinkRequest,
} from '@podwire/netlink';
import { compact } from '@podwire/platform';
import {
  decodeElements,
  decodeIntervals,
  decodeRawElements,
  decodeSet,
  type RawElement,
  type SetDeclaration,
} from './decode.js';
import { describeSet, type Element, type ElementReference, type SetReference } from './element.js';
import { getElementRequest, listElementsRequest } from './element-request.js';
import { refusal, translating } from './errors.js';
import { canonicalInterval, type Interval, isIntervalKey, OrderedIntervals, pairBounds } from './interval.js';
import { families, NFT_MSG_GETSET, setAttribute } from './protocol.js';
import { startPayload } from './request.js';
import { encodeValues, formatValues, type PlainType, type Value } from './values.js';

/** Answers wait in the socket's buffer until they are read, so not too many at once. */
const LOOKUPS_AT_ONCE = 1_000;
const EOPNOTSUPP = 95;

/**
 * The answers to requests of which some may be about things that do not exist (`undefined` for these). A failed
 * exchange gives no answers at all, so what exists is asked for once more without the rest.
 */
export function requestExisting(
  connection: NetlinkConnection,
  requests: readonly NetlinkRequest[],
): (NetlinkMessage[] | undefined)[] {
  const answers = requests.map((): NetlinkMessage[] | undefined => undefined);
  let open = requests.map((_, index) => index);
  while (open.length > 0) {
    const asked = open.slice(0, LOOKUPS_AT_ONCE);
    const absent = askFor(connection, requests, asked, answers);
    open = [...asked.filter((index) => absent?.has(index) === false), ...open.slice(LOOKUPS_AT_ONCE)];
  }
  return answers;
}

/** Fills in the answers, or returns which of the requests were about nothing. */
function askFor(
  connection: NetlinkConnection,
  requests: readonly NetlinkRequest[],
  asked: readonly number[],
  answers: (NetlinkMessage[] | undefined)[],
): Set<number> | undefined {
  try {
    const replies = connection.request(asked.map((index) => requests[index]!));
    for (const [n, index] of asked.entries()) answers[index] = replies[n];
    return undefined;
  } catch (error) {
    if (!(error instanceof NetlinkBatchError) || error.failures.some(({ code }) => code !== 'ENOENT'))
      throw error;
    return new Set(error.failures.map(({ index }) => asked[index]!));
  }
}

/** Which of the keys exist. An absent set or table has no keys. */
export function presentKeys(connection: NetlinkConnection, keys: readonly ElementReference[]): boolean[] {
  return findElements(connection, keys).map((found) => found !== undefined);
}

/** Which of the elements exist, with the data they name; one without data is any element of its key. */
export function presentElements(
  connection: NetlinkConnection,
  elements: readonly (SetReference & Element)[],
): boolean[] {
  const found = findElements(connection, elements);
  return elements.map((element, n) => found[n]?.some((one) => sameData(one, element)) ?? false);
}

/** Without reading whole sets, except where keys are intervals. */
function findElements(
  connection: NetlinkConnection,
  references: readonly ElementReference[],
): (readonly RawElement[] | undefined)[] {
  const exact = references.filter(({ key }) => !isIntervalKey(key));
  const answers = requestExisting(connection, exact.map(getElementRequest));
  const found = new Map(exact.map((reference, n) => [reference, answers[n]?.flatMap(decodeRawElements)]));
  const sets = new Map<string, ReadonlyMap<string, Interval<RawElement>>>();
  return references.map((reference) => {
    if (!isIntervalKey(reference.key)) return found.get(reference);
    const name = describeSet(reference);
    let intervals = sets.get(name);
    if (intervals === undefined) {
      const all = readIntervals(connection, reference);
      intervals = new Map(all.map((interval) => [formatValues(interval.key), interval]));
      sets.set(name, intervals);
    }
    const same = intervals.get(canonicalInterval(reference.key));
    return same && [same.begin];
  });
}

/** Finds what is in the way of new intervals. Each set is read once, as it is when it is first asked for. */
export class OverlapFinder {
  readonly #connection: NetlinkConnection;
  readonly #sets = new Map<string, OrderedIntervals>();

  constructor(connection: NetlinkConnection) {
    this.#connection = connection;
  }

  /** The keys of all intervals of the set that have something in common with this one. */
  find(reference: ElementReference): (readonly Value[])[] {
    const name = describeSet(reference);
    let intervals = this.#sets.get(name);
    if (intervals === undefined) {
      const keys = readIntervals(this.#connection, reference).map(({ key }) => key);
      intervals = new OrderedIntervals(keys);
      this.#sets.set(name, intervals);
    }
    return intervals.overlapping(reference.key);
  }
}

/**
 * The kernel looks for the interval that a key is in, not for the one that begins there, so
 * the whole set is read.
 */
function readIntervals(connection: NetlinkConnection, set: SetReference): Interval<RawElement>[] {
  if (!hasIntervals(connection, set)) return [];
  return pairBounds(connection.dump(listElementsRequest(set)).flatMap(decodeRawElements));
}

function sameData(found: RawElement, { value, verdict }: Element): boolean {
  if (value !== undefined) return found.data?.equals(encodeValues(value)) ?? false;
  if (verdict === undefined) return true;
  const chain = 'chain' in verdict ? verdict.chain : undefined;
  const foundChain = found.verdict && 'chain' in found.verdict ? found.verdict.chain : undefined;
  return found.verdict?.verdict === verdict.verdict && foundChain === chain;
}

function getSetRequest({ family, table, set }: SetReference): NetlinkRequest {
  const writer = startPayload(families[family]).text(setAttribute.table, table).text(setAttribute.name, set);
  return { type: NFT_MSG_GETSET, flags: 0, payload: writer.finish() };
}

/** One element by its key, or `undefined` when key, set or table are not there. */
export function getElement(connection: NetlinkConnection, reference: ElementReference): Element | undefined {
  if (isIntervalKey(reference.key)) return getInterval(connection, reference);
  const requests = [getSetRequest(reference), getElementRequest(reference)];
  const [set, element] = requestExisting(connection, requests);
  if (set?.[0] === undefined || element?.[0] === undefined) return undefined;
  return decodeElements(element[0], readableTypes(decodeSet(set[0]), reference))[0];
}

function hasIntervals(connection: NetlinkConnection, reference: SetReference): boolean {
  const [answer] = requestExisting(connection, [getSetRequest(reference)]);
  if (answer?.[0] === undefined) return false;
  const { interval, key } = decodeSet(answer[0]);
  return interval && key !== undefined && isAddress(key);
}

function getInterval(connection: NetlinkConnection, reference: ElementReference): Element | undefined {
  if (!hasIntervals(connection, reference)) return undefined;
  const wanted = canonicalInterval(reference.key);
  return listElements(connection, reference).find(({ key }) => formatValues(key) === wanted);
}

/**
 * All elements of a set or map.
 * @throws NftablesError `ENOENT` without the set, `EOPNOTSUPP` when its types are not known here.
 */
export function listElements(connection: NetlinkConnection, reference: SetReference): Element[] {
  const label = `list set ${describeSet(reference)}`;
  const replies = translating(label, () => connection.request([getSetRequest(reference)]));
  const declaration = decodeSet(replies[0]![0]!);
  const types = readableTypes(declaration, reference);
  const messages = translating(label, () => connection.dump(listElementsRequest(reference)));
  if (declaration.interval) return decodeIntervals(messages, types);
  return messages
    .flatMap((message) => decodeElements(message, types))
    .map((element) => {
      if (element === undefined) throw refusal('EOPNOTSUPP', EOPNOTSUPP, `${label}: it has a catch-all`);
      return element;
    });
}

function readableTypes(declaration: SetDeclaration, reference: SetReference) {
  const { key, data, map, interval } = declaration;
  if (key === undefined || (map && data === undefined) || (interval && !isAddress(key))) {
    throw refusal('EOPNOTSUPP', EOPNOTSUPP, `read the types of ${describeSet(reference)}`);
  }
  return { key, ...compact({ data }) };
}

/** Types that intervals can have. */
const isAddress = ([type, ...more]: readonly PlainType[]): boolean =>
  more.length === 0 && (type === 'ipv4_addr' || type === 'ipv6_addr');
