/** Annotations of Kube-OVN: what pods ask for, and what a controller answers. */

const prefix = 'ovn.kubernetes.io/';

export const annotationNames = {
  /** Asked for and answered. */
  subnet: `${prefix}logical_switch`,
  addresses: `${prefix}ip_address`,
  mac: `${prefix}mac_address`,
  nicType: `${prefix}pod_nic_type`,
  /** Asked for. */
  pool: `${prefix}ip_pool`,
  portSecurity: `${prefix}port_security`,
  /** Asked for: Mbit/s, as the pod sees the direction. */
  ingressRate: `${prefix}ingress_rate`,
  egressRate: `${prefix}egress_rate`,
  /** Asked for: `true`, the mirror of the node gets what is sent to the pod. */
  mirror: `${prefix}mirror`,
  /** Answered. */
  cidr: `${prefix}cidr`,
  gateway: `${prefix}gateway`,
  router: `${prefix}logical_router`,
  networkType: `${prefix}network_type`,
  vlan: `${prefix}vlan_id`,
  provider: `${prefix}provider_network`,
  isAllocated: `${prefix}allocated`,
  isRouted: `${prefix}routed`,
  /** Answered to a node: its logical port. */
  port: `${prefix}port_name`,
} as const;

const { cidr, gateway, router, networkType, vlan, provider, isAllocated, isRouted, port } = annotationNames;

/** Those that no pod asks for anything by: one that brings `allocated` would have given itself its addresses. */
export const answeringAnnotations: ReadonlySet<string> = new Set([
  ...[cidr, gateway, router, networkType, vlan, provider, isAllocated, isRouted, port],
]);

/** The reason why a pod has no addresses yet, on its record. */
export const problemAnnotation = 'podwire/problem';

/** Of a pod, and of its IP object as well: a node reads them there, and follows them while the pod runs. */
export const rateAnnotations = [annotationNames.ingressRate, annotationNames.egressRate] as const;

const bitsPerMegabit = 1_000_000;
const most = 9_999_999 * bitsPerMegabit;

/** The value of a rate in bit/s, 0 for none; undefined for what is no rate. @param text Mbit/s */
export const parseRate = (text: string): number | undefined =>
  /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * bitsPerMegabit) : undefined;

/** The text that {@link parseRate} reads. @param rate bit/s, a whole number */
export const formatRate = (rate: number): string => String(Math.min(rate, most) / bitsPerMegabit);

/** True for annotations of Kube-OVN's default provider. */
export const isOvnAnnotation = (name: string): boolean => name.startsWith(prefix);

/** Annotations of IP objects: the objects of Kube-OVN have no place for the UID and the stateful set of a pod. */
export const ipAnnotations = {
  podUid: 'podwire/pod-uid',
  statefulSet: 'podwire/stateful-set',
} as const;

/** The name of the bridge that a provider network has on each of its nodes. */
export const providerBridge = (network: string): string => `br-${network}`;

/** The interface that a network has on a node that it does not exclude. */
export const providerInterface = (
  {
    defaultInterface,
    customInterfaces,
  }: {
    readonly defaultInterface: string;
    readonly customInterfaces: readonly { readonly interface: string; readonly nodes: readonly string[] }[];
  },
  node: string,
): string => customInterfaces.find(({ nodes }) => nodes.includes(node))?.interface ?? defaultInterface;

/** The name of a label that nodes have for a provider network: `net1.provider-network.kubernetes.io/ready`. */
export const providerLabel = (network: string, word: 'ready' | 'interface' | 'mtu' | 'exclude'): string =>
  `${network}.provider-network.kubernetes.io/${word}`;

export const isProviderLabel = (name: string): boolean =>
  /\.provider-network\.kubernetes\.io\/(ready|interface|mtu|exclude)$/.test(name);

/** Facts that a node publishes as the model `ovn`: of each provider network {@link formatReady}, or the problem in words. */
export const providerFacts = {
  model: 'ovn',
  prefix: 'provider-network/',
} as const;

/** @param mtu of the interface, in bytes */
export const formatReady = (mtu: number | undefined): string =>
  mtu === undefined ? 'ready' : `ready ${mtu}`;

/** @returns the MTU, where the node has said it; undefined for a problem */
export function parseReady(state: string): { readonly mtu: string | undefined } | undefined {
  const found = /^ready(?: (\d{1,6}))?$/.exec(state);
  return found === null ? undefined : { mtu: found[1] };
}
