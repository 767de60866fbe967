import { createLink, type Link, setLink } from '@podwire/netlink';
import { LIVE_GROUP } from '../marks.js';
import type { ObservedNamespace } from '../observe.js';
import type { Vxlan } from '../resource.js';
import { compareLink, missing } from './links.js';
import type { Provider } from './provider.js';

export const vxlan: Provider<Vxlan> = {
  create: ({ kind, name, mac, mtu, id, port, local, underlay }, session) => [
    createLink(
      {
        ...{ kind, name, mac, mtu, id, port, local, group: LIVE_GROUP },
        // Peers are told, never learned: whoever could send us one packet would be sent what is another's.
        learning: false,
        ...(underlay === undefined ? {} : { underlay: session.indexOf('host', underlay) }),
      },
      { echo: true },
    ),
  ],
  replace: ({ name, mac, mtu }, session) => [setLink(session.indexOf('host', name), { mac, mtu })],
  remove: () => [], // links are doomed together: see doom.ts
  compare: (resource, view) => {
    const { name, mac, mtu } = resource;
    const side = view.side('host');
    const found = side.link(name);
    if (found === undefined) return missing(name);
    if (found.group !== LIVE_GROUP) return { missing: `there is a link ${name}, but it is not Podwire's` };
    const other = differenceForGood(found, resource, side);
    if (other !== undefined) return { missing: `${name} is another tunnel: ${other}` };
    return compareLink(found, { name, mac, mtu, kind: 'vxlan', group: LIVE_GROUP });
  },
};

/** What cannot be changed once the link is made, in words. */
function differenceForGood({ settings }: Link, wanted: Vxlan, side: ObservedNamespace): string | undefined {
  if (settings?.kind !== 'vxlan') return 'it is no VXLAN device';
  const { id, port, local, underlay } = wanted;
  const target = { id, port, local, learning: false, underlay: underlay && side.link(underlay)?.index };
  const differing = (Object.keys(target) as (keyof typeof target)[]).filter(
    (key) => settings[key] !== target[key],
  );
  if (differing.length === 0) return undefined;
  return differing.map((key) => `${key} is ${settings[key]} instead of ${target[key]}`).join(', ');
}
