import {
  NetlinkBatchError,
  type NetlinkConnection,
  type NetlinkMessage,
  type NetlinkRequest,
} from '@podwire/netlink';
import { compact } from '@podwire/platform';
import {
  decodeElements,
  decodeRawElements,
  decodeSet,
  type RawElement,
  type SetDeclaration,
} from './decode.js';
import { describeSet, type Element, type ElementReference, type SetReference } from './element.js';
import { getElementRequest, listElementsRequest } from './element-request.js';
import { refusal, translating } from './errors.js';
import { families, NFT_MSG_GETSET, setAttribute } from './protocol.js';
import { startPayload } from './request.js';
import { encodeValues } from './values.js';

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

/** Which of the keys exist, without reading whole sets. An absent set or table has no keys. */
export function presentKeys(connection: NetlinkConnection, keys: readonly ElementReference[]): boolean[] {
  return requestExisting(connection, keys.map(getElementRequest)).map((answer) => answer !== undefined);
}

/** Which of the elements exist, with the data they name; one without data is any element of its key. */
export function presentElements(
  connection: NetlinkConnection,
  elements: readonly (SetReference & Element)[],
): boolean[] {
  const answers = requestExisting(connection, elements.map(getElementRequest));
  return elements.map((element, n) =>
    (answers[n] ?? []).flatMap(decodeRawElements).some((found) => sameData(found, element)),
  );
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
  const requests = [getSetRequest(reference), getElementRequest(reference)];
  const [set, element] = requestExisting(connection, requests);
  if (set?.[0] === undefined || element?.[0] === undefined) return undefined;
  return decodeElements(element[0], readableTypes(decodeSet(set[0]), reference))[0];
}

/**
 * All elements of a set or map.
 * @throws NftablesError `ENOENT` without the set, `EOPNOTSUPP` when its types are not known here or it has intervals.
 */
export function listElements(connection: NetlinkConnection, reference: SetReference): Element[] {
  const label = `list set ${describeSet(reference)}`;
  const replies = translating(label, () => connection.request([getSetRequest(reference)]));
  const types = readableTypes(decodeSet(replies[0]![0]!), reference);
  const messages = translating(label, () => connection.dump(listElementsRequest(reference)));
  return messages
    .flatMap((message) => decodeElements(message, types))
    .map((element) => {
      if (element === undefined) throw refusal('EOPNOTSUPP', EOPNOTSUPP, `${label}: it has intervals`);
      return element;
    });
}

function readableTypes(declaration: SetDeclaration, reference: SetReference) {
  const { key, data, map } = declaration;
  if (key === undefined || (map && data === undefined)) {
    throw refusal('EOPNOTSUPP', EOPNOTSUPP, `read the types of ${describeSet(reference)}`);
  }
  return { key, ...compact({ data }) };
}
