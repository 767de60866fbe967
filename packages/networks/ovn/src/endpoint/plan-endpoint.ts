import { addressKey } from '@podwire/backend-linux/keys';
import { portInstalledKey } from '@podwire/backend-ovsdb/keys';
import type { OvsPort } from '@podwire/backend-ovsdb/resources';
import type { Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import { type Endpoint, endpointKey, type NodeView, type PlannedEndpoint } from '@podwire/network-contract';
import { digestName, planHostPorts, podLinkPrefix } from '@podwire/network-traffic';
import { planSwitchedLink } from '@podwire/network-traffic/switched-pod';
import { compact } from '@podwire/platform';
import { planGatewayPod } from '../gateway/plan-gateway.js';
import { planLimitedPort } from '../limits.js';
import { BRIDGE, MIRROR, NODE_LINK } from '../names.js';
import { mirrorScope } from '../node/mirror.js';
import { gatewayScope } from '../node/scopes.js';
import { optionsOf } from '../options.js';
import type { LogicalPort } from './attachment.js';
import { planPodSide, reportedRoutes } from './pod-side.js';

/**
 * Everything one pod needs on its node: a veth pair whose one end is a port of ovn-controller's bridge, its addresses and routes,
 * and its rates. ovn-controller writes the flows, by the `iface-id` of the port.
 * @throws PodwireError POD_UNALLOCATED; REQUEST_INVALID for a MAC address that the pod cannot have
 */
export function planEndpoint(endpoint: Endpoint, { network, mtu: usual }: NodeView): PlannedEndpoint {
  const port = portOf(endpoint);
  const { mtu = usual } = port;
  checkMac(endpoint, port);
  const { host, pod } = linksOf(endpoint, port);
  const resources: Resource[] = [
    { kind: 'veth', host, pod, mtu },
    ...planSwitchedLink(host.name),
    ...planPort(endpoint, host.name, port),
    ...planPodSide(pod.name, port, optionsOf(network)),
    { kind: 'link-ready', in: 'pod', link: pod.name },
    ...planChecks(host.name, pod.name, port),
    ...planExit(port),
    // Packets to host ports come to the pod through the link of the node.
    ...planHostPorts(endpoint, NODE_LINK),
  ];
  return {
    resources,
    links: [
      { side: 'host', ...host },
      { side: 'pod', ...pod },
    ],
    mtu,
    routes: reportedRoutes(pod.name, port),
    gateways: port.addresses.map(({ gateway }) => gateway),
    lengths: port.addresses.map(({ length }) => length),
    ...listNeeds(port),
  };
}

function listNeeds({ exit, isMirrored }: LogicalPort): Pick<PlannedEndpoint, 'needs'> {
  const needs = [
    ...(exit === undefined ? [] : [gatewayScope]),
    ...(isMirrored === true ? [mirrorScope] : []),
  ];
  return needs.length === 0 ? {} : { needs };
}

function portOf({ attachment, pod }: Endpoint): LogicalPort {
  if (attachment?.port !== undefined) return attachment.port;
  throw new PodwireError(
    'POD_UNALLOCATED',
    `the port of pod ${pod.namespace ?? '?'}/${pod.name ?? '?'} was not resolved`,
  );
}

/** The logical port lets no other one pass. */
function checkMac({ requestedMac }: Endpoint, { name, mac }: LogicalPort): void {
  if (requestedMac === undefined || requestedMac === mac.toLowerCase()) return;
  const message = `mac: the logical port ${name} has ${mac}, and not ${requestedMac}`;
  throw new PodwireError('REQUEST_INVALID', message);
}

/** A second sandbox of a pod has names of its own: the first is not removed yet. */
const linksOf = ({ id }: Endpoint, { mac }: LogicalPort) => ({
  host: { name: digestName(podLinkPrefix, endpointKey(id)), mac: `fe${mac.slice(2)}` },
  pod: { name: id.ifName, mac },
});

/** Milliseconds: less than a request has, so that its error says what was waited for. The runtime tries again. */
const PATIENCE = 8_000;

/** A pod speaks when it is added: packets are lost until the flows of its port are there. */
const planChecks = (
  hostLink: string,
  podLink: string,
  { addresses, checksGateway }: LogicalPort,
): Resource[] => [
  { kind: 'ovs-port-ready', port: hostLink },
  { kind: 'ovs-port-installed', port: hostLink, timeout: PATIENCE },
  ...(checksGateway ? addresses : []).map(({ address, length, gateway }): Resource => ({
    ...{ kind: 'neighbour-answers', in: 'pod', link: podLink, address: gateway, timeout: PATIENCE },
    after: [portInstalledKey(hostLink), addressKey('pod', podLink, `${address}/${length}`)],
  })),
];

const planExit = ({ subnet, addresses, exit }: LogicalPort): Resource[] =>
  exit === undefined
    ? []
    : planGatewayPod({ subnet, addresses: addresses.map(({ address }) => address) }, exit);

/** Ids of the interface are where Kube-OVN has them. */
function planPort(endpoint: Endpoint, name: string, port: LogicalPort): Resource[] {
  const { netns, pod } = endpoint;
  const externalIds = compact({
    ...{ 'iface-id': port.name, pod_name: pod.name, pod_namespace: pod.namespace },
    ip: port.addresses.map(({ address }) => address).join(','),
    pod_netns: netns,
  });
  const row: OvsPort = {
    ...{ kind: 'ovs-port', name, bridge: BRIDGE, interfaces: [{ name, externalIds }] },
    ...(port.isMirrored === true ? { mirrors: [MIRROR] } : {}),
  };
  return planLimitedPort(row, { ...endpoint.bandwidth, ...port.rates });
}
