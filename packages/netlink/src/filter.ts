import { compact } from '@podwire/platform';
import { Attributes, eachAttribute } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { dumpUnless } from './dump.js';
import { type MirredAction, readMirred, writeMirred } from './mirred.js';
import type { PayloadWriter } from './payload.js';
import { NLM_F_CREATE, NLM_F_EXCL } from './protocol.js';
import * as tc from './tc-attributes.js';
import { readTcMessage, writeTcHeader } from './tc-message.js';
import { encodeSelector, readSelector, type U32Key } from './u32.js';

/** Any protocol (ETH_P_ALL). */
export const ANY_PROTOCOL = 0x0003;

export interface FilterPlace {
  /** Index of the link. */
  readonly link: number;
  /** Where it hangs: {@link tc.INGRESS_FILTERS} when absent. */
  readonly parent?: number;
}

/** A u32 filter (tc-u32(8)). */
export interface NewFilter extends FilterPlace {
  /** Filters are tried in this order, from 1 on. */
  readonly priority: number;
  /** EtherType; {@link ANY_PROTOCOL} when absent. */
  readonly protocol?: number;
  /** All of them must match; none at all is everything. */
  readonly keys?: readonly U32Key[];
  /** Class that the packet goes to. */
  readonly classId?: number;
  readonly action?: MirredAction;
}

/** An action of a filter; only mirred's own settings are known to this library. */
export type FilterAction = MirredAction | { readonly kind: string; readonly options?: Uint8Array };

export interface FilterSettings {
  readonly keys: readonly U32Key[];
  readonly classId?: number;
  readonly actions: readonly FilterAction[];
}

export interface Filter {
  readonly link: number;
  readonly parent: number;
  readonly priority: number;
  readonly protocol: number;
  readonly handle: number;
  readonly kind: string;
  /** Of u32 filters. */
  readonly settings?: FilterSettings;
  /** TCA_OPTIONS as it is, for the other kinds. */
  readonly options?: Uint8Array;
}

const TCA_U32_CLASSID = 1;
const TCA_U32_SEL = 5;
const TCA_U32_ACT = 7;
const TCA_ACT_KIND = 1;
const TCA_ACT_OPTIONS = 2;

/** Adds a filter. ENOENT or EINVAL when there is no qdisc to hang it on; several of one priority are allowed. */
export function addFilterRequest(filter: NewFilter): NetlinkRequest {
  return newFilter(filter, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

function newFilter(filter: NewFilter, flags: number, verb: string): NetlinkRequest {
  const { classId, action, keys = [] } = filter;
  const writer = writeFilterHeader(filter, filter.priority, filter.protocol ?? ANY_PROTOCOL, 0);
  writer.text(tc.TCA_KIND, 'u32');
  writer.nest(tc.TCA_OPTIONS, () => {
    if (classId !== undefined) writer.u32(TCA_U32_CLASSID, classId);
    writer.bytes(TCA_U32_SEL, encodeSelector(keys));
    if (action !== undefined) writer.nest(TCA_U32_ACT, () => writeAction(writer, action));
  });
  const label = `${verb} filter to link ${filter.link}`;
  return { type: tc.RTM_NEWTFILTER, flags, payload: writer.finish(), label };
}

/** Actions are a list of attributes numbered from 1. */
function writeAction(writer: PayloadWriter, action: MirredAction): void {
  writer.nest(1, () => {
    writer.text(TCA_ACT_KIND, action.kind);
    writer.nest(TCA_ACT_OPTIONS, () => writeMirred(writer, action));
  });
}

/** The info word is the priority and, in network byte order, the protocol. */
function writeFilterHeader(place: FilterPlace, priority: number, protocol: number, handle: number) {
  const { link, parent = tc.INGRESS_FILTERS } = place;
  if (!(priority >= 0 && priority <= 0xffff)) throw new RangeError(`a filter priority of ${priority}`);
  const info = ((priority << 16) | swap16(protocol)) >>> 0;
  return writeTcHeader({ link, handle, parent, info });
}

const swap16 = (value: number): number => ((value & 0xff) << 8) | ((value >> 8) & 0xff);

/** Deletes the filters of one priority. ENOENT when there are none. */
export function deleteFilterRequest(
  filter: FilterPlace & { readonly priority: number; readonly protocol?: number },
): NetlinkRequest {
  const writer = writeFilterHeader(filter, filter.priority, filter.protocol ?? ANY_PROTOCOL, 0);
  const label = `delete filter of link ${filter.link}`;
  return { type: tc.RTM_DELTFILTER, flags: 0, payload: writer.finish(), label };
}

/** Deletes all filters of a place. */
export function deleteFiltersRequest(place: FilterPlace): NetlinkRequest {
  const payload = writeFilterHeader(place, 0, 0, 0).finish();
  return { type: tc.RTM_DELTFILTER, flags: 0, payload, label: `delete filters of link ${place.link}` };
}

/** Decodes an RTM_NEWTFILTER message. @throws DecodeError */
export function decodeFilter(message: NetlinkMessage): Filter {
  const { link, handle, parent, info, attributes } = readTcMessage(message);
  const kind = attributes.text(tc.TCA_KIND) ?? '';
  const settings = kind === 'u32' ? readSettings(attributes.nested(tc.TCA_OPTIONS)) : undefined;
  const options = settings === undefined ? attributes.bytes(tc.TCA_OPTIONS) : undefined;
  const priority = info >>> 16;
  const protocol = swap16(info & 0xffff);
  return compact({ link, parent, priority, protocol, handle, kind, settings, options });
}

function readSettings(options: Attributes | undefined): FilterSettings | undefined {
  const selector = options?.bytes(TCA_U32_SEL);
  if (options === undefined || selector === undefined) return undefined;
  const keys = readSelector(selector);
  return compact({
    keys,
    classId: options.u32(TCA_U32_CLASSID),
    actions: readActions(options.bytes(TCA_U32_ACT)),
  });
}

function readActions(list: Buffer | undefined): FilterAction[] {
  if (list === undefined) return [];
  return [...eachAttribute(list)].map(({ value }) => readAction(new Attributes(value)));
}

function readAction(attributes: Attributes): FilterAction {
  const kind = attributes.text(TCA_ACT_KIND) ?? '';
  const mirred = kind === 'mirred' ? readMirred(attributes.nested(TCA_ACT_OPTIONS)) : undefined;
  return mirred ?? compact({ kind, options: attributes.bytes(TCA_ACT_OPTIONS) });
}

/**
 * The filters at one place, in the order they are tried; none if the link is gone. What u32 lists besides, its hash
 * tables and a head for each priority, is left out.
 */
export function listFilters(connection: NetlinkConnection, place: FilterPlace): Filter[] {
  const { link, parent = tc.INGRESS_FILTERS } = place;
  const payload = writeTcHeader({ link, handle: 0, parent, info: 0 }).finish();
  return dumpUnless(connection, { type: tc.RTM_GETTFILTER, flags: 0, payload, label: 'list filters' }, [
    'ENODEV',
  ])
    .map(decodeFilter)
    .filter((filter) => (filter.kind === 'u32' ? filter.settings !== undefined : filter.handle !== 0));
}
