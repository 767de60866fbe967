/** A cluster in memory, with names for the addresses and VNIDs of the recorded traces. */
import { podFactsKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { createCluster, type TestCluster } from '../cluster/cluster.js';
import { writeTemporary } from '../support.js';

const pods = [
  ['n1', 'shop', 'web', '10.128.2.2'],
  ['n1', 'default', 'router', '10.128.2.3'],
  ['n1', 'bank', 'teller', '10.128.2.4'],
  ['n2', 'shop', 'db', '10.128.4.2'],
] as const;

const netNamespace = ([name, netid]: readonly [string, number]): string =>
  `apiVersion: network.openshift.io/v1\nkind: NetNamespace\nmetadata: {name: ${name}}\nnetname: ${name}\nnetid: ${netid}\n`;
const hostSubnet = ([name, address, subnet]: readonly [string, string, string]): string =>
  `apiVersion: network.openshift.io/v1\nkind: HostSubnet\nmetadata: {name: ${name}}\nhost: ${name}\nhostIP: ${address}\nsubnet: ${subnet}\n`;

const objects = [
  ...(
    [
      ['default', 0],
      ['shop', 42],
      ['bank', 7],
    ] as const
  ).map(netNamespace),
  ...(
    [
      ['n1', '192.0.2.1', '10.128.2.0/23'],
      ['n2', '192.0.2.2', '10.128.4.0/23'],
    ] as const
  ).map(hostSubnet),
].join('---\n');

export async function createNamedCluster(): Promise<TestCluster> {
  const cluster = createCluster();
  const { code, stderr } = await cluster.podwire(`apply -f ${writeTemporary('objects.yaml', objects)}`);
  if (code !== 0) throw new Error(stderr);
  for (const [node, namespace, name, address] of pods) {
    const facts = { namespace, name, node, labels: {}, addresses: [address], ports: [] };
    await cluster.store.put(cluster.keys.podFacts(node, namespace, name), encodeObject(podFactsKind, facts));
  }
  return cluster;
}
