import { portReadyKey } from '@podwire/backend-ovsdb/keys';
import type { Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import { type Endpoint, endpointKey, type NodeView, type PlannedEndpoint } from '@podwire/network-contract';
import { digestName, planHostPorts, podLinkPrefix } from '@podwire/network-traffic';
import { planPortPolicing, planPortQos } from '@podwire/network-traffic/port-bandwidth';
import { planSwitchedLink } from '@podwire/network-traffic/switched-pod';
import { hexOf } from '../addresses.js';
import { flowResources } from '../flow-resources.js';
import { BRIDGE, HOST_LINK } from '../names.js';
import { planProjectFlows } from '../pipeline/modes.js';
import { planPodFlows } from '../pipeline/pod.js';
import { nodeOf } from '../view.js';
import { vnidOf } from './attachment.js';
import { placeOf, type PodPlace } from './place.js';
import { planPodSide, reportedRoutes } from './pod-side.js';

/**
 * Everything one pod needs: a veth pair whose one end is a port of the bridge, the flows of the pod and of its project,
 * address and routes, and what was asked for in ports and rates. Pods of one project share its flows.
 * @throws PodwireError PROJECT_UNKNOWN, REQUEST_INVALID; POOL_EXHAUSTED while the node has no subnet
 */
export function planEndpoint(endpoint: Endpoint, view: NodeView): PlannedEndpoint {
  const node = nodeOf(view);
  if (node === undefined) throw withoutSubnet(view);
  const place = placeOf(endpoint, node.subnet);
  const vnid = vnidOf(endpoint.attachment, endpoint.pod);
  const { host, pod } = linksOf(endpoint, place);
  const resources: Resource[] = [
    { kind: 'veth', host, pod, mtu: view.mtu },
    ...planPodSide(pod.name, place, node, endpoint.foundLinks),
    ...planSwitchedLink(host.name),
    ...planPort(endpoint, host.name, place),
    ...flowResources(planProjectFlows(node.mode, vnid)),
    // Another port that has got the number would be taken for the pod.
    ...flowResources(planPodFlows(node, { ...place, vnid }), () => [portReadyKey(host.name)]),
    { kind: 'link-ready', in: 'pod', link: pod.name },
    // Packets to host ports come to the pod through the link of the node.
    ...planHostPorts(endpoint, HOST_LINK),
  ];
  return {
    resources,
    links: [
      { side: 'host', ...host },
      { side: 'pod', ...pod },
    ],
    mtu: view.mtu,
    routes: reportedRoutes(pod.name, place, node),
    gateways: [place.gateway],
  };
}

const withoutSubnet = ({ name, network }: NodeView): PodwireError =>
  new PodwireError('POOL_EXHAUSTED', `node ${name} has no subnet of network ${network.name} yet`);

/** The packet filter knows links of pods by the beginning of their names. */
const linksOf = ({ id }: Endpoint, { ip, mac }: PodPlace) => ({
  host: { name: digestName(podLinkPrefix, endpointKey(id)), mac: `fe:58:${hexOf(ip)}` },
  pod: { name: id.ifName, mac },
});

/** `sandbox` and `ip` are where OpenShift has them. */
function planPort({ id, bandwidth }: Endpoint, name: string, { ip, port }: PodPlace): Resource[] {
  const qos = planPortQos(name, bandwidth);
  return [
    ...qos,
    {
      ...{ kind: 'ovs-port', name, bridge: BRIDGE, ...(qos.length === 0 ? {} : { qos: name }) },
      interfaces: [{ name, ofportRequest: port, ...planPortPolicing(bandwidth) }],
      externalIds: { sandbox: id.containerId, ip },
    },
    { kind: 'ovs-port-ready', port: name, number: port },
  ];
}
