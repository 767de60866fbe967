/** Objects of OpenShift SDN on a cluster in memory: the commands find their kinds by the registry alone. */
import { expect, test } from 'vitest';
import { writeTemporary } from '../support.js';
import { createCluster } from './cluster.js';

const cluster = `apiVersion: network.openshift.io/v1
kind: ClusterNetwork
metadata:
  name: default
network: 10.128.0.0/14
hostsubnetlength: 9
serviceNetwork: 172.30.0.0/16
pluginName: redhat/openshift-ovs-multitenant
`;
const hostSubnet = `apiVersion: network.openshift.io/v1
kind: HostSubnet
metadata:
  name: n1
host: n1
hostIP: 192.168.1.1
subnet: 10.128.0.0/23
egressIPs: [192.168.1.100]
`;
const netNamespace = `apiVersion: network.openshift.io/v1
kind: NetNamespace
metadata:
  name: shop
netname: shop
netid: 10
`;

test('applies a file, shows the tables of oc, and takes its own YAML again', async () => {
  const { podwire, advance } = createCluster();
  const file = writeTemporary('sdn.yaml', [netNamespace, hostSubnet, cluster].join('---\n'));
  const { stdout, stderr } = await podwire(`apply -f ${file}`);
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'clusternetworks/default created',
    'hostsubnets/n1 created',
    'netnamespaces/shop created',
    '',
  ]);
  advance(3_000);
  const table = async (kind: string): Promise<string[]> => (await podwire(`get ${kind}`)).stdout.split('\n');
  expect(await table('clusternetwork')).toEqual([
    'NAME      CLUSTER NETWORK   SERVICE NETWORK   PLUGIN NAME                        AGE',
    'default   10.128.0.0/14     172.30.0.0/16     redhat/openshift-ovs-multitenant   3s',
    '',
  ]);
  expect(await table('hostsubnets')).toEqual([
    'NAME   HOST   HOST IP       SUBNET          EGRESS CIDRS   EGRESS IPS          AGE',
    'n1     n1     192.168.1.1   10.128.0.0/23                  ["192.168.1.100"]   3s',
    '',
  ]);
  expect(await table('netnamespaces.network.openshift.io')).toEqual([
    'NAME   NETID   EGRESS IPS   AGE',
    'shop   10                   3s',
    '',
  ]);
  const yaml = (await podwire('get clusternetwork default -o yaml')).stdout;
  expect(yaml).toContain('clusterNetworks:');
  expect((await podwire(`diff -f ${writeTemporary('again.yaml', yaml)}`)).stdout).toBe('');
});

test('refuses all of a file for one fault, with file, line and field', async () => {
  const { podwire, store } = createCluster();
  const file = writeTemporary(
    'sdn.yaml',
    [
      cluster.replace('10.128.0.0/14', '10.129.0.0/14'),
      hostSubnet.replace('host: n1', 'host: n2'),
      netNamespace.replace('netid: 10', 'netID: 10'),
    ].join('---\n'),
  );
  const { code, stderr } = await podwire(`apply -f ${file}`);
  expect(code).toBe(1);
  expect(stderr.split('\n').slice(0, 4)).toEqual([
    `error: ${file}:5: network: has bits set beyond its length; the prefix is 10.128.0.0/14`,
    `       ${file}:14: host: must be metadata.name, n1`,
    `       ${file}:19: netid: is missing`,
    `       ${file}:24: netID: unknown field (did you mean netid?)`,
  ]);
  expect((await store.list('/podwire/objects/')).items).toEqual([]);
});

test('explains a field', async () => {
  const { stdout } = await createCluster().podwire('explain clusternetwork.clusterNetworks');
  expect(stdout).toContain('hostSubnetLength');
});
