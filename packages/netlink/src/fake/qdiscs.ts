import type { NetlinkMessage } from '../connection.js';
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from '../protocol.js';
import { decodeQdisc, type Qdisc } from '../qdisc.js';
import { writeQdiscSettings } from '../qdisc-settings.js';
import * as tc from '../tc-attributes.js';
import { readTcMessage, writeTcHeader } from '../tc-message.js';
import { FakeErrno } from './errno.js';
import type { FakeContext, NamespaceState } from './state.js';

const kinds: readonly string[] = ['tbf', 'htb', 'ingress', 'clsact'];

/** RTM_NEWQDISC */
export function newQdisc({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = decodeQdisc(message);
  requireLink(namespace, request.link);
  if (!kinds.includes(request.kind)) throw new FakeErrno('ENOENT', 'Specified qdisc kind is unknown');
  checkSettings(request);
  const old = find(namespace, request);
  if (old !== undefined) checkReplacement(old, request, message.flags);
  else if ((message.flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENOENT');
  if (old !== undefined && old.kind !== request.kind) remove(namespace, old);
  const handle = request.handle || (old?.kind === request.kind ? old.handle : nextHandle(namespace));
  namespace.qdiscs = [...namespace.qdiscs.filter((qdisc) => qdisc !== old), { ...request, handle }];
  return [];
}

function requireLink(namespace: NamespaceState, index: number): void {
  if (!namespace.links.has(index)) throw new FakeErrno('ENODEV');
}

function checkSettings({ kind, settings }: Qdisc): void {
  if (kind === 'ingress' || kind === 'clsact') return;
  if (settings === undefined) throw new FakeErrno('EINVAL');
  if (settings.kind === 'tbf' && settings.burst === 0) throw new FakeErrno('EINVAL');
}

function checkReplacement(old: Qdisc, request: Qdisc, flags: number): void {
  if ((flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST', 'Exclusivity flag on, cannot modify');
  if (old.kind !== request.kind && (flags & NLM_F_REPLACE) === 0) throw new FakeErrno('EEXIST');
}

function nextHandle(namespace: NamespaceState): number {
  namespace.lastQdisc++;
  return tc.tcHandle(namespace.lastQdisc);
}

const find = (
  namespace: NamespaceState,
  { link, parent }: Pick<Qdisc, 'link' | 'parent'>,
): Qdisc | undefined => namespace.qdiscs.find((qdisc) => qdisc.link === link && qdisc.parent === parent);

/** A qdisc goes with its classes, with what hangs below them and with its filters. */
function remove(namespace: NamespaceState, qdisc: Qdisc): void {
  const major = qdisc.handle >>> 16;
  const below = (entry: { link: number; parent: number }) =>
    entry.link === qdisc.link && entry.parent >>> 16 === major && entry.parent !== tc.TC_ROOT;
  namespace.qdiscs = namespace.qdiscs.filter((other) => other !== qdisc);
  namespace.filters = namespace.filters.filter((filter) => !below(filter));
  namespace.classes = namespace.classes.filter(
    (entry) => entry.link !== qdisc.link || entry.handle >>> 16 !== major,
  );
  for (const child of namespace.qdiscs.filter((other) => below(other) && !isHook(other)))
    remove(namespace, child);
}

const isHook = (qdisc: Qdisc): boolean => qdisc.kind === 'ingress' || qdisc.kind === 'clsact';

/** RTM_DELQDISC */
export function deleteQdisc({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readTcMessage(message);
  requireLink(namespace, request.link);
  const qdisc = find(namespace, request);
  if (qdisc === undefined) throw new FakeErrno('ENOENT', 'Cannot delete qdisc with handle of zero');
  remove(namespace, qdisc);
  return [];
}

/** RTM_GETQDISC for one place. */
export function getQdisc({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readTcMessage(message);
  requireLink(namespace, request.link);
  const qdisc = find(namespace, request);
  if (qdisc !== undefined) return [encodeQdisc(qdisc)];
  if (request.parent === tc.TC_ROOT) return [];
  throw new FakeErrno('ENOENT', 'Cannot find specified qdisc on specified device');
}

/** RTM_GETQDISC for all. */
export function dumpQdiscs({ namespace }: FakeContext): Buffer[] {
  return namespace.qdiscs.map(encodeQdisc);
}

function encodeQdisc({ link, handle, parent, kind, settings }: Qdisc): Buffer {
  const writer = writeTcHeader({ link, handle, parent, info: 0 }).text(tc.TCA_KIND, kind);
  if (settings !== undefined) writer.nest(tc.TCA_OPTIONS, () => writeQdiscSettings(writer, settings));
  return writer.finish();
}
