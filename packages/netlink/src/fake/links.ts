import type { NetlinkMessage } from '../connection.js';
import { NLM_F_CREATE, NLM_F_EXCL } from '../protocol.js';
import { FakeErrno } from './errno.js';
import { bringUp, destroy, detach, takeDown } from './link-life.js';
import {
  encodeLink,
  type LinkDescription,
  type LinkRequest,
  readLinkFilter,
  readLinkRequest,
} from './link-wire.js';
import type { FakeContext, FakeLink, NamespaceState } from './state.js';

/** Kinds of links that this kernel has, with the name that a nameless one gets. */
const kinds = new Map([
  ['veth', 'veth%d'],
  ['ifb', 'ifb%d'],
  ['bridge', 'bridge%d'],
  ['vxlan', 'vxlan%d'],
  ['macvlan', 'macvlan%d'],
  ['dummy', 'dummy%d'],
]);

const NAME_SIZE = 15;
const MTU_MIN = 68;
const MTU_MAX = 65535;

/** RTM_NEWLINK. Returns the link, for an echo. */
export function newLink(context: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readLinkRequest(message);
  const existing = findLink(context.namespace, request);
  if (existing !== undefined) {
    if ((message.flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST');
    return changeLink(context, existing, request);
  }
  if ((message.flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENODEV');
  return [encodeLink(createLink(context, request))];
}

/** RTM_SETLINK */
export function setLink(context: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readLinkRequest(message);
  return changeLink(context, requireLink(context.namespace, request), request);
}

/** RTM_DELLINK: one link, or all of a group. */
export function deleteLinks(context: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readLinkRequest(message);
  const links = selectForDeletion(context.namespace, request);
  if (links.some((link) => link.kind === undefined)) throw new FakeErrno('EOPNOTSUPP');
  links.forEach(destroy);
  return [];
}

function selectForDeletion(namespace: NamespaceState, request: LinkRequest): FakeLink[] {
  if (request.index !== undefined || request.name !== undefined) return [requireLink(namespace, request)];
  if (request.group === undefined) throw new FakeErrno('EINVAL');
  if (request.group === 0) throw new FakeErrno('EPERM');
  const links = [...namespace.links.values()].filter((link) => link.group === request.group);
  if (links.length === 0) throw new FakeErrno('ENODEV');
  return links;
}

/** RTM_GETLINK for one link. */
export function getLink(context: FakeContext, message: NetlinkMessage): Buffer[] {
  return [encodeLink(requireLink(context.namespace, readLinkRequest(message)))];
}

/** RTM_GETLINK for all. */
export function dumpLinks(context: FakeContext, message: NetlinkMessage): Buffer[] {
  const { kind, master } = readLinkFilter(message);
  return [...context.namespace.links.values()]
    .sort((a, b) => a.index - b.index)
    .filter((link) => kind === undefined || link.kind === kind)
    .filter((link) => master === undefined || link.master === master)
    .map(encodeLink);
}

function findLink(namespace: NamespaceState, { index, name }: LinkDescription): FakeLink | undefined {
  if (index !== undefined) return namespace.links.get(index);
  return name === undefined ? undefined : findByName(namespace, name);
}

function findByName(namespace: NamespaceState, name: string): FakeLink | undefined {
  return [...namespace.links.values()].find((link) => link.name === name);
}

function requireLink(namespace: NamespaceState, request: LinkDescription): FakeLink {
  const link = findLink(namespace, request);
  if (link === undefined) throw new FakeErrno('ENODEV');
  return link;
}

function createLink(context: FakeContext, request: LinkRequest): FakeLink {
  const { kind } = request;
  if (kind === undefined || !kinds.has(kind)) throw new FakeErrno('EOPNOTSUPP', 'Unknown device type');
  checkVxlan(context.namespace, request);
  const link = prepare(context, request, kind);
  if (kind === 'veth') connectPeer(context, link, request);
  register(link, link.index);
  link.settings = withDefaults(request.settings, kind);
  try {
    if (request.master !== undefined) enslave(link, request.master);
  } catch (error) {
    destroy(link);
    throw error;
  }
  if (request.up === true) bringUp(link);
  return link;
}

function withDefaults(settings: LinkRequest['settings'], kind: string): LinkRequest['settings'] {
  if (settings !== undefined || kind !== 'bridge') return settings;
  return { kind: 'bridge', stp: false, vlanFiltering: false };
}

const emptyDescription: LinkDescription = {
  index: undefined,
  up: undefined,
  name: undefined,
  mac: undefined,
  mtu: undefined,
  group: undefined,
  transmitQueueLength: undefined,
  master: undefined,
  parent: undefined,
  alias: undefined,
  namespace: undefined,
};

/** The peer comes to life first: when it cannot, nothing has happened. It is not connected yet, so it cannot go up. */
function connectPeer(context: FakeContext, link: FakeLink, request: LinkRequest): void {
  const description = request.peer ?? emptyDescription;
  const index = request.index === undefined ? undefined : description.index;
  const peer = prepare(context, { ...description, index }, 'veth');
  const named = request.name !== undefined;
  const sameName = peer.namespace === link.namespace && peer.name === link.name;
  if (sameName && named) throw new FakeErrno('EEXIST');
  if (description.up === true) throw new FakeErrno('ENOTCONN');
  link.peer = peer;
  peer.peer = link;
  register(peer, peer.index);
  if (!named) link.name = chooseName(link.namespace, kinds.get('veth')!);
}

/** A checked link that is not in its namespace yet; index 0 means any. */
function prepare(context: FakeContext, description: LinkDescription, kind: string): FakeLink {
  const namespace =
    description.namespace === undefined ? context.namespace : context.namespaceOf(description.namespace);
  const name = chooseName(namespace, description.name ?? kinds.get(kind)!);
  if (findByName(namespace, name) !== undefined) throw new FakeErrno('EEXIST');
  if (description.index !== undefined && namespace.links.has(description.index)) throw new FakeErrno('EBUSY');
  checkMtu(description.mtu);
  checkMac(description.mac);
  return {
    ...freshLink(namespace, name, description.mac ?? context.nextMac()),
    kind,
    index: description.index ?? 0,
    mtu: description.mtu ?? (kind === 'vxlan' ? 1450 : 1500),
    group: description.group ?? 0,
    parent: description.parent,
    transmitQueueLength: description.transmitQueueLength ?? (kind === 'ifb' ? 32 : 1000),
  };
}

/** A link with the kernel's defaults. */
export function freshLink(namespace: NamespaceState, name: string, mac: string): FakeLink {
  return {
    namespace,
    index: 0,
    name,
    mac,
    mtu: 1500,
    group: 0,
    up: false,
    transmitQueueLength: 1000,
    addressGenerationMode: 'eui64',
    inetSettings: {},
    kind: undefined,
    settings: undefined,
    master: undefined,
    parent: undefined,
    alias: undefined,
    peer: undefined,
  };
}

/** Puts a link into its namespace, under the index it wants or the next that is free. */
export function register(link: FakeLink, wanted: number): void {
  const { namespace } = link;
  if (wanted === 0) {
    do namespace.lastIndex++;
    while (namespace.links.has(namespace.lastIndex));
  }
  link.index = wanted === 0 ? namespace.lastIndex : wanted;
  namespace.links.set(link.index, link);
}

function chooseName(namespace: NamespaceState, pattern: string): string {
  if (Buffer.byteLength(pattern) > NAME_SIZE)
    throw new FakeErrno('ERANGE', 'Attribute failed policy validation');
  if (/^$|^\.\.?$|[/:\s]/.test(pattern)) throw new FakeErrno('EINVAL');
  if (!pattern.includes('%d')) return pattern;
  for (let number = 0; ; number++) {
    const name = pattern.replace('%d', String(number));
    if (findByName(namespace, name) === undefined) return name;
  }
}

function checkMtu(mtu: number | undefined): void {
  if (mtu !== undefined && (mtu < MTU_MIN || mtu > MTU_MAX)) throw new FakeErrno('EINVAL');
}

function checkMac(mac: string | undefined): void {
  if (mac === undefined) return;
  const bytes = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  if (bytes.length !== 6) throw new FakeErrno('EINVAL');
  if ((bytes[0]! & 1) !== 0 || bytes.every((byte) => byte === 0)) throw new FakeErrno('EADDRNOTAVAIL');
}

function checkVxlan(namespace: NamespaceState, { settings }: LinkRequest): void {
  if (settings?.kind !== 'vxlan') return;
  const same = (link: FakeLink) =>
    link.settings?.kind === 'vxlan' &&
    link.settings.id === settings.id &&
    link.settings.port === settings.port;
  if ([...namespace.links.values()].some(same)) {
    throw new FakeErrno('EEXIST', 'A VXLAN device with the specified VNI already exists');
  }
}

function changeLink(context: FakeContext, link: FakeLink, request: LinkRequest): Buffer[] {
  checkMtu(request.mtu);
  checkMac(request.mac);
  if (request.namespace !== undefined) move(link, context.namespaceOf(request.namespace), request.name);
  else if (request.index !== undefined && request.name !== undefined) rename(link, request.name);
  link.mtu = request.mtu ?? link.mtu;
  if (request.mac !== undefined) changeMac(link, request.mac);
  link.group = request.group ?? link.group;
  link.alias = request.alias ?? link.alias;
  link.transmitQueueLength = request.transmitQueueLength ?? link.transmitQueueLength;
  if (request.master !== undefined) enslave(link, request.master);
  if (request.up !== undefined) (request.up ? bringUp : takeDown)(link);
  link.addressGenerationMode = request.families.mode ?? link.addressGenerationMode;
  Object.assign(link.inetSettings, request.families.inetSettings);
  return [];
}

/** Neighbours were found from the old address, so the link forgets them, the permanent ones too (neigh_changeaddr). */
function changeMac(link: FakeLink, mac: string): void {
  if (link.mac === mac) return;
  link.mac = mac;
  const { namespace, index } = link;
  namespace.neighbours = namespace.neighbours.filter((entry) => entry.link !== index);
}

function rename(link: FakeLink, wanted: string): void {
  const name = chooseName(link.namespace, wanted);
  const other = findByName(link.namespace, name);
  if (other !== undefined && other !== link) throw new FakeErrno('EEXIST');
  link.name = name;
}

function move(link: FakeLink, target: NamespaceState, wanted: string | undefined): void {
  if (target === link.namespace) return;
  const name = chooseName(target, wanted ?? link.name);
  if (findByName(target, name) !== undefined) throw new FakeErrno('EEXIST');
  detach(link);
  const index = target.links.has(link.index) ? 0 : link.index;
  Object.assign(link, { namespace: target, name, master: undefined });
  register(link, index);
}

function enslave(link: FakeLink, master: number): void {
  if (master === 0) {
    link.master = undefined;
    return;
  }
  const bridge = link.namespace.links.get(master);
  if (bridge === undefined) throw new FakeErrno('EINVAL');
  if (bridge.kind !== 'bridge') throw new FakeErrno('EOPNOTSUPP');
  link.master = master;
}
