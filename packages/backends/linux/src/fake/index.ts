/** A whole system in memory for tests without root: the fake kernels of `netlink` and `nftables` behind {@link Kernel}. */
import type { NamespaceIdentity } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import { SystemError } from '@podwire/linux';
import { decodeInetSettings, decodeLink, getLinkRequest, type NetlinkConnection } from '@podwire/netlink';
import { FakeKernel, type FakeNamespace } from '@podwire/netlink/fake';
import {
  createFakeConntrack,
  createFakeNftables,
  type FakeConntrack,
  type FakeNftables,
} from '@podwire/nftables/fake';
import type { Kernel, KernelNamespace, LinkFeatures, Sysctls } from '../kernel.js';
import { linkSettingOf } from '../rtnetlink/link-setting.js';

export { nodeResources, podResources, portElement } from './sample-resources.js';

export interface FakeSystem extends Kernel {
  /** For failures on demand and for looking at what was asked. */
  readonly netlink: FakeKernel;
  readonly nftables: FakeNftables;
  readonly conntrack: FakeConntrack;
  addPod(path: string): NamespaceIdentity;
  removePod(identity: NamespaceIdentity): void;
}

/** Kernel parameters that are there before any link is; a link's own come with the first look at them. */
const parameters = ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'];
const perLink = /^net\/ipv[46]\/(conf|neigh)\/[^/]+\/\w+$/;

export function createFakeSystem(): FakeSystem {
  const netlink = new FakeKernel();
  const pods = new Map<string, FakeNamespace>();
  const host = openFake(netlink, netlink.home);
  const enter = ({ path, inode }: NamespaceIdentity): KernelNamespace => {
    const pod = pods.get(path);
    if (pod?.inode === inode) return openFake(netlink, pod);
    throw new PodwireError('NAMESPACE_GONE', `the network namespace ${path} is gone`);
  };
  return {
    netlink,
    host,
    background: netlink.open(),
    nftables: createFakeNftables(),
    conntrack: createFakeConntrack(),
    enter,
    addPod(path) {
      const pod = netlink.createNamespace(path);
      pods.set(path, pod);
      return { path, device: pod.device, inode: pod.inode };
    },
    removePod({ path }) {
      netlink.deleteNamespace(pods.get(path)!);
      pods.delete(path);
    },
    close: () => undefined,
  };
}

const sysctlsOf = new WeakMap<FakeKernel, Map<string, Sysctls>>();

function openFake(netlink: FakeKernel, namespace: FakeNamespace): KernelNamespace {
  const ofKernel = sysctlsOf.get(netlink) ?? new Map<string, Sysctls>();
  sysctlsOf.set(netlink, ofKernel);
  const sysctls = ofKernel.get(namespace.path) ?? createSysctls(netlink.open({ namespace }));
  ofKernel.set(namespace.path, sysctls);
  const route = netlink.open({ namespace });
  const features = createFeatures(netlink, namespace, route);
  return { route, sysctls, features, fd: namespace.fd, close: () => route.close() };
}

/** Features that are off; those of a new link are on, and no link gets the index of an earlier one. */
const switchedOff = new WeakMap<FakeKernel, Set<string>>();

function createFeatures(
  netlink: FakeKernel,
  { inode }: FakeNamespace,
  route: NetlinkConnection,
): LinkFeatures {
  const off = switchedOff.get(netlink) ?? new Set<string>();
  switchedOff.set(netlink, off);
  const keyOf = (link: string, feature: string): string => {
    const [reply] = route.request([getLinkRequest(link)]).flat();
    return `${inode} ${decodeLink(reply!).index} ${feature}`;
  };
  return {
    read: (link, feature) => !off.has(keyOf(link, feature)),
    switch(link, feature, on) {
      if (on) off.delete(keyOf(link, feature));
      else off.add(keyOf(link, feature));
    },
  };
}

function createSysctls(route: NetlinkConnection): Sysctls {
  const values = new Map(parameters.map((key) => [key, '0']));
  const read = (key: string): string | undefined =>
    readLinkSetting(route, key) ?? values.get(key) ?? (perLink.test(key) ? '0' : undefined);
  return {
    read,
    write(key, value) {
      if (read(key) === undefined) throw new SystemError('open', 2, key);
      values.set(key, value);
    },
  };
}

/** A setting made by attribute shows in the file too. */
function readLinkSetting(route: NetlinkConnection, key: string): string | undefined {
  const setting = linkSettingOf({ key, value: '0' });
  if (setting === undefined) return undefined;
  try {
    const [reply] = route.request([getLinkRequest(setting.link)]).flat();
    return String(decodeInetSettings(reply!)[setting.name] ?? 0);
  } catch {
    return undefined; // there is no such link
  }
}
