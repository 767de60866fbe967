import type { AnyResource, Kind } from '@podwire/engine';
import type { NetlinkRequest } from '@podwire/netlink';
import { entryKey, keysBeforeEntries, keysBeforeLinks, linkKey } from '../keys.js';
import { inPlace } from '../kinds.js';
import type { Place } from '../places.js';
import type { View } from './view.js';

/** Numbers that requests refer to. */
export interface LinkNumbers {
  /** The index of a link, looked up once. @throws NetlinkBatchError ENODEV when there is no such link */
  indexOf(place: Place, link: string): number;
  /** The descriptor of the pod's namespace. @throws PodwireError NAMESPACE_GONE */
  podFd(): number;
}

/** A kind in rtnetlink's terms. */
export interface RtnetlinkKind<R extends AnyResource, F = unknown> extends Kind<R, F> {
  create(resource: R, links: LinkNumbers): readonly NetlinkRequest[];
  /** Makes what is there and differs agree; `create` when absent. */
  replace?(resource: R, links: LinkNumbers): readonly NetlinkRequest[];
  /** Nothing when absent. What an absent thing answers (ENOENT, ESRCH, …) is no failure. */
  delete?(resource: R, links: LinkNumbers): readonly NetlinkRequest[];
  /** Everything that {@link compare} has to know. */
  observe(resource: R, view: View): F;
}

/** A link of the node. They travel apart from entries, which name their link by an index that exists only then. */
type LinkKind<R extends AnyResource, F> = Omit<
  RtnetlinkKind<R, F>,
  'backend' | 'batch' | 'place' | 'key' | 'removal' | 'inPlace' | 'repairedInPlace' | 'after'
> & {
  /** Of its end on the node. */
  readonly name: (resource: R) => string;
};

export function defineLink<R extends AnyResource>() {
  return <F>({ name, ...link }: LinkKind<R, F>): RtnetlinkKind<R, F> => ({
    backend: 'rtnetlink',
    batch: 'links',
    place: () => 'host',
    key: (resource) => linkKey('host', name(resource)),
    removal: 'deferred',
    inPlace: false,
    // One that is another thing is missing; what differs otherwise is set on it: MTU, MAC, group.
    repairedInPlace: true,
    after: () => keysBeforeLinks,
    ...link,
  });
}

interface Entry extends AnyResource {
  readonly in: Place;
  readonly link?: string;
}

/** Something in a table of the kernel. It dies with its link, if it has one. */
type EntryKind<R extends Entry, F> = Omit<
  RtnetlinkKind<R, F>,
  'backend' | 'batch' | 'place' | 'key' | 'describe' | 'diesWith' | 'independent'
> & {
  /** Identity among others of its kind in its place. */
  readonly identify: (resource: R) => string;
  /** Without the place. */
  readonly words: (resource: R) => string;
};

export function defineEntry<R extends Entry>() {
  return <F>({ identify, words, ...entry }: EntryKind<R, F>): RtnetlinkKind<R, F> => ({
    backend: 'rtnetlink',
    batch: 'entries',
    place: (resource) => resource.in,
    key: (resource) => entryKey(entry.kind, resource.in, identify(resource)),
    describe: (resource) => `${words(resource)}${inPlace(resource.in)}`,
    diesWith: ({ in: place, link }) => (link === undefined ? undefined : linkKey(place, link)),
    after: ({ in: place, link }) => (link === undefined ? [] : keysBeforeEntries(place, link)),
    touches: (resource) => touchesOf(resource, entryKey(entry.kind, 'host', identify(resource))),
    independent: true,
    ...entry,
  });
}

/** Identifies an address, a neighbour or a forwarding entry. */
export const onLink = (link: string, id: string): string => `${link} ${id}`;

/** Events in a pod are hinted at as a whole. */
function touchesOf({ in: place, link }: Entry, key: string): string[] {
  if (place === 'pod') return [];
  return link === undefined ? [key] : [key, linkKey('host', link)];
}

/** `undefined` in place of a link. */
export const missing = (link: string): { missing: string } => ({ missing: `there is no link ${link}` });
