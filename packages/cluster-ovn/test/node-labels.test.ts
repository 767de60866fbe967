/** Labels of nodes for ProviderNetworks, by what nodes say of them. */
import { OvnPlanner } from '@podwire/cluster-ovn';
import { expect, it } from 'vitest';
import { lookOf, make, nodeOf, nodeSaying, options } from './cluster-look.js';

const customInterfaces = [{ interface: 'enp1s0', nodes: ['n2'] }];
const network = (name: string, spec: Readonly<Record<string, unknown>> = {}) =>
  make('ProviderNetwork', name, { defaultInterface: 'eth1', customInterfaces, ...spec });

/** By the names of the nodes. */
function labelsOf(networks: ReturnType<typeof network>[], nodes: ReturnType<typeof nodeOf>[]) {
  const look = lookOf(networks, nodes);
  return Object.fromEntries(new OvnPlanner(look, options).nodeLabels(look.objects));
}

it('name the interface and the MTU of a network that is ready on the node', () => {
  const nodes = [nodeSaying('n1', { net1: 'ready 1500' }), nodeSaying('n2', { net1: 'ready' })];
  expect(labelsOf([network('net1')], nodes)).toEqual({
    n1: {
      'net1.provider-network.kubernetes.io/ready': 'true',
      'net1.provider-network.kubernetes.io/interface': 'eth1',
      'net1.provider-network.kubernetes.io/mtu': '1500',
    },
    n2: {
      'net1.provider-network.kubernetes.io/ready': 'true',
      'net1.provider-network.kubernetes.io/interface': 'enp1s0',
    },
  });
});

it('say that a node is excluded, and nothing of a network that is not ready there', () => {
  const nodes = [nodeSaying('n1', { net2: 'ready for nothing' }), nodeOf('n2')];
  expect(labelsOf([network('net1', { excludeNodes: ['n1'] }), network('net2')], nodes)).toEqual({
    n1: { 'net1.provider-network.kubernetes.io/exclude': 'true' },
    n2: {},
  });
});

it('name no interface that is no value of a label', () => {
  const [labels] = Object.values(
    labelsOf([network('net1', { defaultInterface: 'eth1@x' })], [nodeSaying('n1', { net1: 'ready' })]),
  );
  expect(labels).toEqual({ 'net1.provider-network.kubernetes.io/ready': 'true' });
});
