/** The state that an event of the kernel came with, as a hint of this backend shows it. */
import type { ForwardingEntry, InterfaceAddressEntry, Link, Neighbour, Route } from '@podwire/netlink';

interface ShownEntries {
  readonly address: InterfaceAddressEntry;
  readonly route: Route;
  readonly neighbour: Neighbour;
  readonly 'forwarding-entry': ForwardingEntry;
}

/** One thing of the node. */
export type ShownState =
  | { readonly is: 'link'; readonly link: Link }
  | { readonly is: 'sysctl'; readonly value: string }
  | ShownEntry;

type ShownEntry = {
  [K in keyof ShownEntries]: { readonly is: K; readonly entry: ShownEntries[K] };
}[keyof ShownEntries];

export interface Shown {
  readonly state: ShownState;
  /** Of a link with this index. */
  readonly nameOf: (index: number) => string | undefined;
}

const stateOf = (now: object): ShownState => (now as Shown).state;

/** The link, if it is of this name. */
export function shownLink(now: object, name: string): Link | undefined {
  const state = stateOf(now);
  return state.is === 'link' && state.link.name === name ? state.link : undefined;
}

export const nameShown = (now: object, index: number | undefined): string | undefined =>
  index === undefined ? undefined : (now as Shown).nameOf(index);

/** The entry, if it is one of this sort. */
export function shownEntry<K extends keyof ShownEntries>(now: object, is: K): ShownEntries[K] | undefined {
  const state = stateOf(now);
  return state.is === is ? (state as unknown as { readonly entry: ShownEntries[K] }).entry : undefined;
}

export function shownSysctl(now: object): string | undefined {
  const state = stateOf(now);
  return state.is === 'sysctl' ? state.value : undefined;
}
