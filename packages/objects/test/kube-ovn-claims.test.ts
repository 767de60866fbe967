/** ProviderNetworks that claim the same interface of a node: what can be known without the nodes. */
import { expect, test } from 'vitest';
import { type AnyObject, checkObject, requireCompatible } from '../src/index.js';

type Spec = Readonly<Record<string, unknown>>;

function network(name: string, spec: Spec = {}): AnyObject {
  const checked = checkObject({
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'ProviderNetwork', metadata: { name } },
    spec: { defaultInterface: 'eth1', ...spec },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.object;
}

const custom = (link: string, ...nodes: string[]) => ({ customInterfaces: [{ interface: link, nodes }] });
const other = { defaultInterface: 'eth2' };

const check = (own: Spec, stored: Spec) => () =>
  requireCompatible([network('net2', own)], [network('net1', stored)]);

const refused = (link: string, where: string): string =>
  `ProviderNetwork net2: ${link} is the interface of ProviderNetwork net1 ${where} already`;

test.each<[string, Spec, Spec, string]>([
  ['of every node', {}, {}, refused('eth1', 'on every node')],
  [
    'of a node that both name',
    custom('eth5', 'n1'),
    custom('eth5', 'n2', 'n1'),
    refused('eth5', 'on the node n1'),
  ],
  ['of a node that one names', { ...other, ...custom('eth1', 'n1') }, {}, refused('eth1', 'on the node n1')],
  ['of a node that the other names', other, custom('eth2', 'n3'), refused('eth2', 'on the node n3')],
])('a second network with the interface %s is refused', (_, own, stored, message) => {
  expect(check(own, stored)).toThrow(message);
});

test.each<[string, Spec, Spec]>([
  ['another interface', other, {}],
  ['nodes that it excludes', { excludeNodes: ['n1'] }, {}],
  ['nodes that the other one excludes', {}, { excludeNodes: ['n1'] }],
  ['another interface on a node', custom('eth5', 'n1'), custom('eth6', 'n1')],
  [
    'a named node that the other one excludes',
    { ...other, ...custom('eth1', 'n1') },
    { excludeNodes: ['n1'] },
  ],
])('a second network with %s is taken, since other nodes may not be there', (_, own, stored) => {
  expect(check(own, stored)).not.toThrow();
});

test('a network is compared with what is applied with it, and not with itself as it was', () => {
  expect(() => requireCompatible([network('net1', other)], [network('net1')])).not.toThrow();
  const both = [network('net1'), network('net2')];
  expect(() => requireCompatible(both, [])).toThrow(refused('eth1', 'on every node'));
  expect(() => requireCompatible([network('net1', other), network('net2')], [network('net1')])).not.toThrow();
});

test('objects of other kinds are not compared', () => {
  const vpc = { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name: 'net1' } };
  expect(() => requireCompatible([vpc], [network('net1')])).not.toThrow();
});
