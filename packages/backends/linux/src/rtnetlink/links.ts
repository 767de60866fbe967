import type { Difference } from '@podwire/engine';
import { createLinkRequest, getLinkRequest, type Link, setLinkRequest } from '@podwire/netlink';
import * as is from '../checks.js';
import { behindKey, linkKey } from '../keys.js';
import { LIVE_GROUP } from '../marks.js';
import { defineEntry, defineLink, missing } from './kind.js';
import { nameShown, shownLink } from './shown.js';
import type { Ifb, LinkLocalMode, LinkReady, LinkUp, Veth, Vxlan } from './resources.js';

/** One queue each way: a veth has no hardware to spread over, and every further queue costs at creation. */
const QUEUES = { transmitQueues: 1, receiveQueues: 1 };

const end = is.record({ name: is.link, mac: is.mac });

export const veth = defineLink<Veth>()({
  kind: 'veth',
  check: is.resource<Veth>({ host: end, pod: end, mtu: is.count }),
  name: ({ host }) => host.name,
  describe: ({ host, pod, mtu }) => `veth ${host.name} to ${pod.name} in pod, MTU ${mtu}`,
  carries: ({ host, pod }) => [linkKey('host', host.name), linkKey('pod', pod.name)],
  touches: ({ host }) => [linkKey('host', host.name), behindKey(host.name)],
  leavesParts: true,
  create: ({ host, pod, mtu }, links) => [
    createLinkRequest(
      {
        kind: 'veth',
        ...host,
        mtu,
        group: LIVE_GROUP,
        ...QUEUES,
        peer: { ...pod, mtu, ...QUEUES, namespace: links.podFd() },
      },
      { echo: true },
    ),
  ],
  replace: ({ host, mtu }, links) => [
    setLinkRequest(links.indexOf('host', host.name), {
      mac: host.mac,
      mtu,
      group: LIVE_GROUP,
      master: NO_MASTER,
    }),
  ],
  observe({ host, pod }, view) {
    const near = view.side('host').link(host.name);
    const far = near === undefined ? undefined : view.side('pod').link(pod.name);
    return { near, otherEnd: far?.parent };
  },
  compare({ host, pod, mtu }, { near, otherEnd }) {
    if (near === undefined) return missing(host.name);
    // MAC and MTU of the far end are the pod's business: a chained `tuning` plugin may have changed them.
    if (otherEnd !== near.index)
      return { missing: `${pod.name} in the pod is not the other end of ${host.name}` };
    return compareLink(near, { ...host, mtu, kind: 'veth', group: LIVE_GROUP, master: undefined });
  },
  shownBy({ host }, now) {
    const near = shownLink(now, host.name);
    // The event is of the node's end alone.
    return near && { near, otherEnd: near.index };
  },
});

export const ifb = defineLink<Ifb>()({
  kind: 'ifb',
  check: is.resource<Ifb>({ name: is.link, mtu: is.count }),
  name: ({ name }) => name,
  describe: ({ name }) => `ifb ${name}`,
  create: ({ name, mtu }) => [
    createLinkRequest({ kind: 'ifb', name, mtu, group: LIVE_GROUP, up: true, ...QUEUES }, { echo: true }),
  ],
  replace: ({ name, mtu }, links) => [
    setLinkRequest(links.indexOf('host', name), { mtu, up: true, master: NO_MASTER }),
  ],
  observe: ({ name }, view) => view.side('host').link(name),
  compare({ name, mtu }, found) {
    if (found !== undefined && (found.kind !== 'ifb' || found.group !== LIVE_GROUP)) return notOurs(name);
    // An ifb that is down drops the packets of a pod.
    return compareLink(found, { name, mtu, kind: 'ifb', up: true, master: undefined });
  },
  shownBy: ({ name }, now) => shownLink(now, name),
});

export const vxlan = defineLink<Vxlan>()({
  kind: 'vxlan',
  check: is.resource<Vxlan>({
    ...{ name: is.link, mac: is.mac, id: is.count, port: is.count, mtu: is.count },
    ...{ local: is.address, underlay: is.optional(is.link) },
  }),
  name: ({ name }) => name,
  describe: ({ name, id, local, port, mtu }) =>
    `vxlan ${name}, id ${id}, from ${local} port ${port}, MTU ${mtu}`,
  leavesParts: true,
  create: ({ kind, name, mac, mtu, id, port, local, underlay }, links) => [
    createLinkRequest(
      {
        ...{ kind, name, mac, mtu, id, port, local, group: LIVE_GROUP },
        // No learning: a host that can send us one packet would be sent what belongs to another.
        learning: false,
        ...(underlay === undefined ? {} : { underlay: links.indexOf('host', underlay) }),
      },
      { echo: true },
    ),
  ],
  replace: ({ name, mac, mtu }, links) => [
    setLinkRequest(links.indexOf('host', name), { mac, mtu, master: NO_MASTER }),
  ],
  observe({ name, underlay }, view) {
    const side = view.side('host');
    return { link: side.link(name), underlay: underlay && side.link(underlay)?.index };
  },
  compare(resource, { link, underlay }) {
    const { name, mac, mtu } = resource;
    if (link === undefined) return missing(name);
    if (link.group !== LIVE_GROUP) return notOurs(name);
    const fixed = differenceInFixed(link, resource, underlay);
    if (fixed !== undefined) return { missing: `${name} is another tunnel: ${fixed}` };
    return compareLink(link, { name, mac, mtu, kind: 'vxlan', group: LIVE_GROUP, master: undefined });
  },
  shownBy({ name, underlay }, now) {
    const link = shownLink(now, name);
    if (link === undefined) return undefined;
    const found = underlayOf(link);
    const isSame = nameShown(now, found) === underlay;
    return { link, underlay: isSame ? found : underlay && OTHER };
  },
});

/** IFLA_MASTER of a link that is in no bridge. */
const NO_MASTER = 0;
/** An index that no link has. */
const OTHER = -1;

const underlayOf = ({ settings }: Link): number | undefined =>
  settings?.kind === 'vxlan' ? settings.underlay : undefined;

const notOurs = (name: string): Difference => ({
  missing: `there is a link ${name}, but it is not Podwire's`,
});

/** Differences that cannot be changed once the link is made, in words. */
function differenceInFixed(
  { settings }: Link,
  { id, port, local }: Vxlan,
  underlay: number | '' | undefined,
): string | undefined {
  if (settings?.kind !== 'vxlan') return 'it is no VXLAN device';
  const wanted = { id, port, local, learning: false, underlay };
  const differing = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
    (key) => settings[key] !== wanted[key],
  );
  if (differing.length === 0) return undefined;
  return differing.map((key) => `${key} is ${settings[key]} instead of ${wanted[key]}`).join(', ');
}

export const linkUp = defineEntry<LinkUp>()({
  kind: 'link-up',
  check: is.resource<LinkUp>({ in: is.side, link: is.link }),
  identify: ({ link }) => link,
  words: ({ link }) => `link ${link} up`,
  removal: 'never',
  inPlace: true,
  create: (resource, links) => [setLinkRequest(links.indexOf(resource.in, resource.link), { up: true })],
  observe: (resource, view) => view.side(resource.in).link(resource.link),
  compare(resource, link) {
    if (link === undefined) return missing(resource.link);
    return link.up ? undefined : `${resource.link} is down`;
  },
  shownBy: ({ link }, now) => shownLink(now, link),
});

const linkReadyOnHost = defineEntry<LinkReady>()({
  kind: 'link-ready',
  check: is.resource<LinkReady>({ in: is.side, link: is.link }),
  identify: ({ link }) => link,
  words: ({ link }) => `link ${link} ready`,
  removal: 'never',
  inPlace: true,
  create: (resource) => [getLinkRequest(resource.link)],
  observe: (resource, view) => view.side(resource.in).link(resource.link),
  compare: (resource, link) => (link === undefined ? missing(resource.link) : undefined),
});

/** The node's end is asked for in the call that brings it up; the pod's end when both are up, which takes a call more. */
const linkReadyInPod = { ...linkReadyOnHost, batch: 'readiness' };

export const linkReady: typeof linkReadyOnHost = {
  ...linkReadyOnHost,
  variant: (resource) => (resource.in === 'pod' ? linkReadyInPod : undefined),
};

export const linkLocalMode = defineEntry<LinkLocalMode>()({
  kind: 'link-local-mode',
  check: is.resource<LinkLocalMode>({ in: is.side, link: is.link, mode: is.oneOf('automatic', 'manual') }),
  identify: ({ link }) => link,
  words: ({ link, mode }) => `link-local address of ${link}: ${mode}`,
  removal: 'never',
  inPlace: true,
  create(resource, links) {
    const mode = resource.mode === 'manual' ? 'none' : 'eui64';
    return [setLinkRequest(links.indexOf(resource.in, resource.link), { addressGenerationMode: mode })];
  },
  observe: (resource, view) => view.side(resource.in).link(resource.link),
  compare(resource, link) {
    if (link === undefined) return missing(resource.link);
    const manual = link.addressGenerationMode === 'none';
    return manual === (resource.mode === 'manual') ? undefined : `mode ${link.addressGenerationMode}`;
  },
  shownBy: ({ link }, now) => shownLink(now, link),
});

type LinkFacts = { readonly [K in 'kind' | 'mac' | 'mtu' | 'group' | 'up' | 'master']?: Link[K] | undefined };

function compareLink(
  found: Link | undefined,
  { name, ...wanted }: LinkFacts & { name: string },
): Difference | undefined {
  if (found === undefined) return missing(name);
  const differing = (Object.keys(wanted) as (keyof LinkFacts)[]).filter((key) => found[key] !== wanted[key]);
  if (differing.length === 0) return undefined;
  const words = (fact: LinkFacts[keyof LinkFacts]): string => String(fact ?? 'none');
  return `${name}: ${differing.map((key) => `${key} is ${words(found[key])} instead of ${words(wanted[key])}`).join(', ')}`;
}
