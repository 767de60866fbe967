import type { NetlinkMessage } from '../connection.js';
import { NLM_F_CREATE, NLM_F_EXCL } from '../protocol.js';
import { readTcMessage } from '../tc-message.js';
import { addClassRequest, decodeClass, type NewHtbClass, type TrafficClass } from '../traffic-class.js';
import { FakeErrno } from './errno.js';
import type { FakeContext } from './state.js';

/** RTM_NEWTCLASS */
export function newClass({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = decodeClass(message);
  if (!namespace.links.has(request.link)) throw new FakeErrno('ENODEV');
  const major = request.parent >>> 16;
  const isBelow = (qdisc: { link: number; handle: number; kind: string }) =>
    qdisc.link === request.link && qdisc.handle >>> 16 === major && qdisc.kind === 'htb';
  if (!namespace.qdiscs.some(isBelow)) throw new FakeErrno('ENOENT');
  const old = namespace.classes.find((other) => isSame(other, request));
  if (old === undefined && (message.flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENOENT');
  if (old !== undefined && (message.flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST');
  namespace.classes = [...namespace.classes.filter((other) => other !== old), request];
  return [];
}

const isSame = (a: { link: number; handle: number }, b: { link: number; handle: number }): boolean =>
  a.link === b.link && a.handle === b.handle;

/** RTM_DELTCLASS */
export function deleteClass({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readTcMessage(message);
  const existing = namespace.classes.find((other) => isSame(other, request));
  if (existing === undefined) throw new FakeErrno('ENOENT');
  const isUsed = namespace.classes.some(({ link, parent }) => isSame({ link, handle: parent }, request));
  if (isUsed) throw new FakeErrno('EBUSY');
  namespace.classes = namespace.classes.filter((other) => other !== existing);
  return [];
}

/** RTM_GETTCLASS */
export function dumpClasses({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const { link } = readTcMessage(message);
  return namespace.classes.filter((entry) => entry.link === link).map(encodeClass);
}

/** A class directly below the qdisc has no class as its parent: the kernel says that it hangs on the root. */
function encodeClass({ settings, ...entry }: TrafficClass): Buffer {
  const parent = (entry.parent & 0xffff) === 0 ? 0xffffffff : entry.parent;
  return addClassRequest({ ...entry, ...settings, parent } as NewHtbClass).payload as Buffer;
}
