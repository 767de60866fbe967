/** A model of the test tree: one veth pair and one route for each pod, IPv4 alone, no packet filter. */
import { createHash } from 'node:crypto';
import type { Resource } from '@podwire/engine';
import {
  type Endpoint,
  endpointKey,
  type ModelScopes,
  type NetworkModel,
  type NodeView,
  type PlannedEndpoint,
} from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { z } from 'zod';

const gateway = '169.254.77.1';
const gatewayMac = 'ee:ee:ee:77:77:77';
const optionsSchema = z.strictObject({ linkPrefix: z.string().min(1).max(4) });

declare module '@podwire/planner' {
  interface FactKinds {
    /** Nodes that have a network of this model, with the prefix that they publish. */
    'plain-nodes': ReadonlyMap<string, string>;
  }
}

/** Scopes of the test: an unreachable route for each node that has networks of the model, this one included. */
export const createTethers = (model: string): ModelScopes => ({
  kind: 'tether',
  list: (read) => read('plain-nodes').keys(),
  plan(node, read) {
    const destination = read('plain-nodes').get(node);
    if (destination === 'none') throw new RangeError(`${node} publishes no prefix`);
    return destination === undefined
      ? undefined
      : [{ kind: 'route', in: 'host', type: 'blackhole', destination, metric: 7 }];
  },
  derivations: { 'plain-nodes': (_, read) => new Map([...listOwn(model, read), ...listPeers(model, read)]) },
});

const listOwn = (model: string, read: Read): [string, string][] =>
  read('sides')
    .filter((side) => side.model.name === model)
    .map(({ view }) => [view.name, tetherOf(view.name)]);

const listPeers = (model: string, read: Read): [string, string][] =>
  [...read('peers')].flatMap((name): [string, string][] => {
    const tether = read(`peer/${name}`)?.facts?.[model]?.['tether'];
    return tether === undefined ? [] : [[name, tether]];
  });

/** A prefix by the name of the node. */
export const tetherOf = (node: string): string =>
  `198.18.${node.length}.${node.charCodeAt(node.length - 1)}/32`;

export const plainModel: NetworkModel = {
  name: 'plain',
  description: 'a veth pair and one host route.',
  encapsulations: ['direct'],
  hostTables: [],
  optionsSchema,
  planNode: () => [{ kind: 'sysctl', in: 'host', key: 'net/ipv4/ip_forward', value: '1' }],
  planPeer: () => [],
  planEndpoint,
  scopes: [createTethers('plain')],
  publish: ({ name }) => ({ tether: tetherOf(name) }),
  podMtu: ({ mtu }) => mtu,
  diagnose: () => [],
};

function planEndpoint(endpoint: Endpoint, node: NodeView): PlannedEndpoint {
  const { linkPrefix } = optionsSchema.parse(node.network.options);
  const digest = createHash('sha1').update(endpointKey(endpoint.id)).digest('hex');
  const host = { name: `${linkPrefix}${digest}`.slice(0, 15), mac: gatewayMac };
  const pod = { name: endpoint.id.ifName, mac: endpoint.mac };
  const prefix = `${endpoint.leases[0]!.address}/32`;
  return {
    resources: [
      { kind: 'veth', host, pod, mtu: node.mtu },
      ...planPodSide(pod.name, prefix),
      { kind: 'link-up', in: 'host', link: host.name },
      { kind: 'route', in: 'host', destination: prefix, link: host.name, scope: 'link' },
    ],
    links: [
      { side: 'host', ...host },
      { side: 'pod', ...pod },
    ],
    needs: [`tether/${node.name}`],
    mtu: node.mtu,
    routes: [{ dst: '0.0.0.0/0', gw: gateway }],
    gateways: [gateway],
  };
}

function planPodSide(link: string, prefix: string): Resource[] {
  const inPod = { in: 'pod', link } as const;
  return [
    { kind: 'link-up', ...inPod },
    { kind: 'address', ...inPod, address: prefix },
    { kind: 'neighbour', ...inPod, address: gateway, mac: gatewayMac },
    { kind: 'route', ...inPod, destination: `${gateway}/32`, scope: 'link' },
    { kind: 'route', ...inPod, destination: '0.0.0.0/0', gateway },
  ];
}
