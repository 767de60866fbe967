import {
  type NetlinkRequest,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLMSG_HDRLEN,
  type PayloadWriter,
} from '@podwire/netlink';
import {
  describeElement,
  type Element,
  type ElementReference,
  type SetReference,
  type Verdict,
} from './element.js';
import {
  dataAttribute,
  elementAttribute,
  elementListAttribute,
  families,
  LIST_ITEM,
  NFT_MSG_DELSETELEM,
  NFT_MSG_DESTROYSETELEM,
  NFT_MSG_GETSETELEM,
  NFT_MSG_NEWSETELEM,
  NFT_SET_ELEM_INTERVAL_END,
  verdictAttribute,
} from './protocol.js';
import { boundsOf } from './interval.js';
import { startPayload } from './request.js';
import { encodeValues } from './values.js';

const COMMENT_LIMIT = 128;
const UDATA_COMMENT = 0;

/** Operations of the kernel on elements of a set. */
export type KernelOperation = 'add' | 'create' | 'delete' | 'destroy';

const messages = {
  add: { type: NFT_MSG_NEWSETELEM, flags: NLM_F_CREATE },
  create: { type: NFT_MSG_NEWSETELEM, flags: NLM_F_CREATE | NLM_F_EXCL },
  delete: { type: NFT_MSG_DELSETELEM, flags: 0 },
  destroy: { type: NFT_MSG_DESTROYSETELEM, flags: 0 },
} as const;

/** One message about elements of one set. */
interface ElementMessage {
  readonly request: NetlinkRequest;
  /** Where each element's attribute starts, counted from the nlmsghdr as extended acks do. */
  readonly offsets: readonly number[];
}

/**
 * One message for elements of one set; at most 100 of them, since they stand in one attribute of at most 64 KiB.
 * @throws RangeError for a value that does not fit its type, naming the element.
 */
export function encodeElements(
  operation: KernelOperation,
  set: SetReference,
  elements: readonly Element[],
): ElementMessage {
  const withData = operation === 'add' || operation === 'create';
  const writer = startList(set);
  const offsets: number[] = [];
  writer.nest(elementListAttribute.elements, () => {
    for (const element of elements) {
      offsets.push(NLMSG_HDRLEN + writer.finish().length);
      writeElement(writer, withData ? element : { key: element.key });
    }
  });
  return { request: { ...messages[operation], payload: writer.finish() }, offsets };
}

function startList({ family, table, set }: SetReference): PayloadWriter {
  return startPayload(families[family])
    .text(elementListAttribute.table, table)
    .text(elementListAttribute.set, set);
}

function writeElement(writer: PayloadWriter, element: Element): void {
  try {
    const bounds = boundsOf(element.key);
    const key = bounds?.first ?? encodeValues(element.key);
    writer.nest(LIST_ITEM, () => writeContents(writer, element, key));
    const end = bounds?.end;
    if (end !== undefined) writer.nest(LIST_ITEM, () => writeEnd(writer, end));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`${describeElement(element)}: ${error.message}`, { cause: error });
  }
}

function writeEnd(writer: PayloadWriter, key: Uint8Array): void {
  writer.be32(elementAttribute.flags, NFT_SET_ELEM_INTERVAL_END);
  writeKey(writer, key);
}

const writeKey = (writer: PayloadWriter, key: Uint8Array): void => {
  writer.nest(elementAttribute.key, () => writer.bytes(dataAttribute.value, key));
};

function writeContents(
  writer: PayloadWriter,
  { value, verdict, comment }: Omit<Element, 'key'>,
  key: Uint8Array,
): void {
  if (value !== undefined && verdict !== undefined) throw new RangeError('both a value and a verdict');
  writeKey(writer, key);
  if (value !== undefined) {
    writer.nest(elementAttribute.data, () => writer.bytes(dataAttribute.value, encodeValues(value)));
  }
  if (verdict !== undefined) writer.nest(elementAttribute.data, () => writeVerdict(writer, verdict));
  if (comment !== undefined) writer.bytes(elementAttribute.userdata, encodeComment(comment));
}

/** Verdict codes: the hook's own two, then nf_tables' (enum nft_verdicts). */
export const verdictCodes = { drop: 0, accept: 1, continue: -1, jump: -3, goto: -4, return: -5 } as const;

export function writeVerdict(writer: PayloadWriter, verdict: Verdict): void {
  writer.nest(dataAttribute.verdict, () => {
    writer.be32(verdictAttribute.code, verdictCodes[verdict.verdict] >>> 0);
    if ('chain' in verdict) writer.text(verdictAttribute.chain, verdict.chain);
  });
}

/** User data as nft writes it, so that `nft list` shows the comment: type, length, text with its NUL. */
export function encodeComment(comment: string): Buffer {
  const text = Buffer.from(`${comment}\0`);
  if (text.length > COMMENT_LIMIT + 1 || comment.includes('\0')) {
    throw new RangeError(`not a comment of at most ${COMMENT_LIMIT} bytes: ${JSON.stringify(comment)}`);
  }
  return Buffer.concat([Buffer.from([UDATA_COMMENT, text.length]), text]);
}

/** Asks for exactly this key; the kernel answers with the element or ENOENT. */
export function getElementRequest(reference: ElementReference): NetlinkRequest {
  const writer = startList(reference);
  writer.nest(elementListAttribute.elements, () => writeElement(writer, { key: reference.key }));
  return { type: NFT_MSG_GETSETELEM, flags: 0, payload: writer.finish() };
}

/** For a dump. */
export function listElementsRequest(set: SetReference): NetlinkRequest {
  return { type: NFT_MSG_GETSETELEM, flags: 0, payload: startList(set).finish() };
}
