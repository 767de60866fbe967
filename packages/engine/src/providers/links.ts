import { createLink, getLink, type Link, setLink } from '@podwire/netlink';
import { LIVE_GROUP } from '../marks.js';
import type { Ifb, LinkLocalMode, LinkReady, LinkUp, Veth } from '../resource.js';
import type { Difference, Provider } from './provider.js';

/** One queue each way: a veth has no hardware to spread over, and every further queue costs at creation. */
const QUEUES = { transmitQueues: 1, receiveQueues: 1 };

export const veth: Provider<Veth> = {
  create: ({ host, pod, mtu }, session) => [
    createLink({
      kind: 'veth',
      ...host,
      mtu,
      group: LIVE_GROUP,
      ...QUEUES,
      peer: { ...pod, mtu, ...QUEUES, namespace: session.namespace('pod').fd },
    }),
  ],
  replace: ({ host, mtu }, session) => [
    setLink(session.indexOf('host', host.name), { mac: host.mac, mtu, group: LIVE_GROUP }),
  ],
  remove: () => [], // links are doomed together: see doom.ts
  compare: ({ host, pod, mtu }, view) => {
    const near = view.side('host').link(host.name);
    if (near === undefined) return missing(host.name);
    // MAC and MTU of the far end are the pod's business: a chained `tuning` plugin may have changed them.
    const far = view.side('pod').link(pod.name);
    if (far?.parent !== near.index)
      return { missing: `${pod.name} in the pod is not the other end of ${host.name}` };
    return compareLink(near, { ...host, mtu, kind: 'veth', group: LIVE_GROUP });
  },
};

export const ifb: Provider<Ifb> = {
  create: ({ name, mtu }) => [
    createLink({ kind: 'ifb', name, mtu, group: LIVE_GROUP, up: true, ...QUEUES }, { echo: true }),
  ],
  replace: ({ name, mtu }, session) => [setLink(session.indexOf('host', name), { mtu, up: true })],
  remove: () => [],
  compare: ({ name, mtu }, view) => {
    const found = view.side('host').link(name);
    if (found !== undefined && (found.kind !== 'ifb' || found.group !== LIVE_GROUP))
      return { missing: `there is a link ${name}, but it is not Podwire's` };
    // What a pod sends is dropped by an ifb that is down.
    return compareLink(found, { name, mtu, kind: 'ifb', up: true });
  },
};

export const linkUp: Provider<LinkUp> = {
  create: (resource, session) => [setLink(session.indexOf(resource.in, resource.link), { up: true })],
  remove: () => [],
  compare: (resource, view) => {
    const link = view.side(resource.in).link(resource.link);
    if (link === undefined) return missing(resource.link);
    return link.up ? undefined : `${resource.link} is down`;
  },
};

export const linkReady: Provider<LinkReady> = {
  create: (resource) => [getLink(resource.link)],
  remove: () => [],
  compare: (resource, view) =>
    view.side(resource.in).link(resource.link) === undefined ? missing(resource.link) : undefined,
};

export const linkLocalMode: Provider<LinkLocalMode> = {
  create: (resource, session) => {
    const mode = resource.mode === 'manual' ? 'none' : 'eui64';
    return [setLink(session.indexOf(resource.in, resource.link), { addressGenerationMode: mode })];
  },
  remove: () => [],
  compare: (resource, view) => {
    const link = view.side(resource.in).link(resource.link);
    if (link === undefined) return missing(resource.link);
    const manual = link.addressGenerationMode === 'none';
    return manual === (resource.mode === 'manual') ? undefined : `mode ${link.addressGenerationMode}`;
  },
};

/** `undefined` in place of a link. */
export const missing = (link: string): { missing: string } => ({ missing: `there is no link ${link}` });

type LinkFacts = Partial<Pick<Link, 'kind' | 'mac' | 'mtu' | 'group' | 'up'>>;

export function compareLink(
  found: Link | undefined,
  { name, ...wanted }: LinkFacts & { name: string },
): Difference | undefined {
  if (found === undefined) return missing(name);
  const differing = (Object.keys(wanted) as (keyof LinkFacts)[]).filter((key) => found[key] !== wanted[key]);
  if (differing.length === 0) return undefined;
  return `${name}: ${differing.map((key) => `${key} is ${found[key]} instead of ${wanted[key]}`).join(', ')}`;
}
