import type { Kind } from '@podwire/engine';
import type { InterfaceAddressEntry } from '@podwire/netlink';
import * as is from '../checks.js';
import { addressesKey, entryKey, keysBeforeEntries, linkKey } from '../keys.js';
import { nameShown, shownEntry } from '../rtnetlink/shown.js';
import { isMovedAddress, type LinkContents } from './contents.js';
import type { UplinkMoved, UplinkResources } from './resources.js';

export interface UplinkFound {
  /** In words: what is on the uplink and is to be moved. */
  readonly left: readonly string[];
  /** `unmarked`: it is not known whose addresses it has. */
  readonly target: 'gone' | 'unmarked' | 'marked';
}

export const uplinkKey = (from: string): string => entryKey('uplink-moved', 'host', from);

export const uplinkMoved: Kind<UplinkMoved, UplinkFound> = {
  kind: 'uplink-moved',
  check: is.resource<UplinkMoved>({
    ...{ in: is.oneOf('host'), from: is.link, to: is.link, after: is.optional(is.listOf(is.text)) },
  }),
  backend: 'uplink',
  batch: 'moves',
  place: () => 'host',
  key: ({ from }) => uplinkKey(from),
  describe: ({ from, to }) => describeMove(from, to),
  inPlace: false,
  repairedInPlace: true,
  after: ({ in: place, from, to, after = [] }) => [
    ...keysBeforeEntries(place, to),
    linkKey(place, from),
    ...['link-up', 'link-ready'].map((kind) => entryKey(kind, place, to)),
    ...after,
  ],
  touches: ({ from, to }) => [linkKey('host', from), linkKey('host', to), addressesKey(from)],
  shownBy({ from }, now) {
    const shown = shownEntry(now, 'address');
    if (shown === undefined || nameShown(now, shown.link) !== from || !isMovedAddress(shown))
      return undefined;
    return { left: [describeAddress(shown)], target: 'marked' };
  },
  compare({ from, to }, { left: [first, ...others], target }) {
    if (target === 'gone') return { missing: `there is no link ${to}` };
    if (first !== undefined)
      return `${from} has ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
    return target === 'marked' ? undefined : { missing: `${to} does not have the mark of ${from}` };
  },
};

export const uplinkKinds = { 'uplink-moved': uplinkMoved } satisfies {
  [K in keyof UplinkResources]: Kind<UplinkResources[K], UplinkFound>;
};

export const describeMove = (from: string, to: string): string => `uplink ${from} on ${to}`;

const describeAddress = ({ address }: Pick<InterfaceAddressEntry, 'address'>): string =>
  `the address ${address}`;

export const describeContents = ({ addresses, routes, rules }: LinkContents): string[] => [
  ...addresses.map(({ entry }) => describeAddress(entry)),
  ...routes.map(({ entry }) => `the route to ${entry.destination}`),
  ...rules.map(({ entry }) => `the rule ${entry.priority}`),
];
