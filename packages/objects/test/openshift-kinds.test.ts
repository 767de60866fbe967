/** Kinds of `network.openshift.io/v1`: what their schemas take, fill in and refuse, and how they are shown. */
import { describe, expect, test } from 'vitest';
import { formatPath } from '@podwire/apimachinery';
import {
  type AnyObject,
  checkObject,
  findKind,
  formatObjectProblem,
  parseNetworkChange,
  readObjects,
} from '../src/index.js';

type Fields = Readonly<Record<string, unknown>>;

const apiVersion = 'network.openshift.io/v1';

const make = (kind: string, name: string, fields: Fields, annotations?: Fields) => ({
  apiVersion,
  kind,
  metadata: { name, ...(annotations !== undefined && { annotations }) },
  ...fields,
});

const network = (fields: Fields) =>
  make('ClusterNetwork', 'default', {
    serviceNetwork: '172.30.0.0/16',
    clusterNetworks: [{ CIDR: '10.128.0.0/14', hostSubnetLength: 9 }],
    ...fields,
  });
const ranges = (...entries: readonly (readonly [string, number])[]) =>
  network({ clusterNetworks: entries.map(([CIDR, hostSubnetLength]) => ({ CIDR, hostSubnetLength })) });
const hostSubnet = (fields: Fields, annotations?: Fields) =>
  make(
    'HostSubnet',
    'n1.example.com',
    { host: 'n1.example.com', hostIP: '192.168.1.1', subnet: '10.128.0.0/23', ...fields },
    annotations,
  );
const netNamespace = (fields: Fields, annotations?: Fields) =>
  make('NetNamespace', 'shop', { netname: 'shop', netid: 10, ...fields }, annotations);

const assign = 'pod.network.openshift.io/assign-subnet';
const fixed = 'pod.network.openshift.io/fixed-vnid-host';
const change = 'pod.network.openshift.io/multitenant.change-network';

function problemsOf(value: unknown): string[] {
  const checked = checkObject(value);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

function objectOf(value: unknown): AnyObject {
  const checked = checkObject(value);
  if (!checked.ok) throw new Error(problemsOf(value).join('\n'));
  return checked.object;
}

describe('reading', () => {
  const filled = {
    network: '10.128.0.0/14',
    hostsubnetlength: 9,
    clusterNetworks: [{ CIDR: '10.128.0.0/14', hostSubnetLength: 9 }],
    pluginName: 'redhat/openshift-ovs-networkpolicy',
    vxlanPort: 4789,
    mtu: 1450,
  };

  test.each<[string, Fields, Fields]>([
    ['the form of today', network({}), filled],
    [
      'the form of old',
      network({ clusterNetworks: undefined, network: '10.128.0.0/14', hostsubnetlength: 9 }),
      filled,
    ],
    ['the form of old beside an empty list', network({ ...filled, clusterNetworks: [] }), filled],
    ['both forms', network(filled), filled],
    [
      'several ranges',
      ranges(['10.128.0.0/16', 8], ['10.20.0.0/16', 9]),
      { network: '10.128.0.0/16', hostsubnetlength: 8 },
    ],
    [
      'a plugin, a port and an MTU',
      network({ pluginName: 'redhat/openshift-ovs-multitenant', vxlanPort: 9789, mtu: 8951 }),
      { pluginName: 'redhat/openshift-ovs-multitenant', vxlanPort: 9789, mtu: 8951 },
    ],
    ['a subnet', hostSubnet({}), { subnet: '10.128.0.0/23', egressIPs: [], egressCIDRs: [] }],
    [
      'a subnet that is asked for',
      hostSubnet({ subnet: undefined }, { [assign]: 'true', [fixed]: '16777215' }),
      { subnet: '' },
    ],
    [
      'egress addresses of a node',
      hostSubnet({ egressIPs: ['192.168.1.100'], egressCIDRs: ['192.168.1.0/24'] }),
      { egressIPs: ['192.168.1.100'], egressCIDRs: ['192.168.1.0/24'] },
    ],
    ['the lowest VNID', netNamespace({ netid: 0 }), { netid: 0, egressIPs: [] }],
    ['the highest VNID', netNamespace({ netid: 16_777_215 }), { netid: 16_777_215 }],
    ['a change that is wanted', netNamespace({}, { [change]: 'join:bar' }), { netid: 10 }],
  ])('takes %s', (_, value, fields) => {
    expect(objectOf(value)).toMatchObject(fields);
  });

  test('changes nothing in an object that is read again', () => {
    for (const value of [network({}), hostSubnet({}), netNamespace({})]) {
      const object = objectOf(value);
      expect(objectOf(object)).toEqual(object);
    }
  });
});

describe('a schema', () => {
  test.each<[string, unknown, string]>([
    [
      'a CIDR with bits beyond its length',
      ranges(['10.128.1.0/14', 9]),
      'clusterNetworks[0].CIDR: has bits set beyond its length; the prefix is 10.128.0.0/14',
    ],
    [
      'a CIDR of IPv6',
      ranges(['fd01::/48', 9]),
      'clusterNetworks[0].CIDR: must be an IPv4 prefix in CIDR notation: 10.128.0.0/14',
    ],
    [
      'a CIDR that no pod can have',
      ranges(['127.0.0.0/8', 9]),
      'clusterNetworks[0].CIDR: has loopback addresses, which no pod can have',
    ],
    [
      'ranges that overlap',
      ranges(['10.128.0.0/14', 8], ['10.0.0.0/8', 8]),
      'clusterNetworks[1].CIDR: overlaps 10.128.0.0/14',
    ],
    [
      'a length that the range does not have',
      ranges(['10.20.30.0/24', 16]),
      'clusterNetworks[0].hostSubnetLength: must be at most 8, which is all that 10.20.30.0/24 has; is 16',
    ],
    [
      'a length without room for pods',
      ranges(['10.20.0.0/16', 1]),
      'clusterNetworks[0].hostSubnetLength: must be at least 2, is 1',
    ],
    ['no range', network({ clusterNetworks: [] }), 'clusterNetworks: is missing'],
    [
      'half of the form of old',
      network({ clusterNetworks: [], network: '10.128.0.0/14' }),
      'hostsubnetlength: is missing beside `network`',
    ],
    [
      'a length of old that the range does not have',
      network({ clusterNetworks: [], network: '10.128.0.0/24', hostsubnetlength: 9 }),
      'hostsubnetlength: must be at most 8, which is all that 10.128.0.0/24 has; is 9',
    ],
    [
      'a network that contradicts the first range',
      network({ network: '10.30.0.0/16' }),
      'network: must be the CIDR of clusterNetworks[0], 10.128.0.0/14',
    ],
    [
      'a length that contradicts the first range',
      network({ hostsubnetlength: 8 }),
      'hostsubnetlength: must be that of clusterNetworks[0], 9',
    ],
    [
      'services among the pods',
      network({ serviceNetwork: '10.128.0.0/24' }),
      'serviceNetwork: overlaps 10.128.0.0/14, which pods have their addresses from',
    ],
    [
      'services around the pods',
      network({ serviceNetwork: '10.0.0.0/8' }),
      'serviceNetwork: overlaps 10.128.0.0/14, which pods have their addresses from',
    ],
    [
      'services with bits beyond the length',
      network({ serviceNetwork: '172.30.1.0/16' }),
      'serviceNetwork: has bits set beyond its length; the prefix is 172.30.0.0/16',
    ],
    [
      'a plugin',
      network({ pluginName: 'redhat/openshift-ovs-multitenat' }),
      'pluginName: must be redhat/openshift-ovs-subnet, redhat/openshift-ovs-multitenant or redhat/openshift-ovs-networkpolicy, is "redhat/openshift-ovs-multitenat" (did you mean redhat/openshift-ovs-multitenant?)',
    ],
    ['port 0', network({ vxlanPort: 0 }), 'vxlanPort: must be at least 1, is 0'],
    ['an MTU', network({ mtu: 500 }), 'mtu: must be at least 576, is 500'],
    ['another host than the name', hostSubnet({ host: 'n2' }), 'host: must be metadata.name, n1.example.com'],
    ['a node of IPv6', hostSubnet({ hostIP: 'fd00::1' }), 'hostIP: must be an IPv4 address: 10.0.0.1'],
    ['no subnet', hostSubnet({ subnet: '' }), `subnet: is missing; the annotation ${assign} asks for one`],
    [
      'a subnet with bits beyond its length',
      hostSubnet({ subnet: '10.128.1.0/23' }),
      'subnet: has bits set beyond its length; the prefix is 10.128.0.0/23',
    ],
    [
      'a fixed VNID out of range',
      hostSubnet({}, { [fixed]: '16777216' }),
      `metadata.annotations."${fixed}": must be a VNID, from 0 to 16777215`,
    ],
    [
      'a range of egress addresses',
      hostSubnet({ egressCIDRs: ['192.168.1.0/33'] }),
      'egressCIDRs[0]: must be an IPv4 prefix in CIDR notation: 10.128.0.0/14',
    ],
    [
      'another netname than the name',
      netNamespace({ netname: 'bar' }),
      'netname: must be metadata.name, shop',
    ],
    ['a negative VNID', netNamespace({ netid: -1 }), 'netid: must be at least 0, is -1'],
    [
      'a VNID of 25 bits',
      netNamespace({ netid: 16_777_216 }),
      'netid: must be at most 16777215, is 16777216',
    ],
    ['no VNID', netNamespace({ netid: undefined }), 'netid: is missing'],
    [
      'an egress address',
      netNamespace({ egressIPs: ['192.168.1.256'] }),
      'egressIPs[0]: must be an IPv4 address: 10.0.0.1',
    ],
    [
      'a change of no kind',
      netNamespace({}, { [change]: 'joined:bar' }),
      `metadata.annotations."${change}": must be global, isolate or join:NAMESPACE`,
    ],
    [
      'a namespace of a kind of the whole cluster',
      { ...netNamespace({}), metadata: { name: 'shop', namespace: 'shop' } },
      'metadata.namespace: must not be there: objects of this kind belong to the whole cluster',
    ],
  ])('refuses %s', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([problem]);
  });

  test('names file, line and field', () => {
    const text = [
      `apiVersion: ${apiVersion}`,
      'kind: NetNamespace',
      'metadata:',
      '  name: shop',
      'netname: shop',
      'netid: 16777216',
      '---',
      `apiVersion: ${apiVersion}`,
      'kind: ClusterNetwork',
      'metadata: {name: default}',
      'serviceNetwork: 172.30.0.0/16',
      'clusterNetworks:',
      '  - CIDR: 10.128.1.0/14',
      '    hostSubnetLength: 9',
    ].join('\n');
    expect(readObjects(text, 'sdn.yaml').problems.map(formatObjectProblem)).toEqual([
      'sdn.yaml:6: netid: must be at most 16777215, is 16777216',
      'sdn.yaml:13: clusterNetworks[0].CIDR: has bits set beyond its length; the prefix is 10.128.0.0/14',
    ]);
  });
});

/** Columns beside the name, as `oc get` has them. */
function showColumns(value: unknown): (readonly [string, string])[] {
  const object = objectOf(value);
  return findKind(object)!.columns.map(({ title, show }) => [title, show(object)] as const);
}

test('the columns are those of oc get', () => {
  expect(showColumns(network({}))).toEqual([
    ['CLUSTER NETWORK', '10.128.0.0/14'],
    ['SERVICE NETWORK', '172.30.0.0/16'],
    ['PLUGIN NAME', 'redhat/openshift-ovs-networkpolicy'],
  ]);
  expect(showColumns(hostSubnet({ egressIPs: ['192.168.1.100'] }))).toEqual([
    ['HOST', 'n1.example.com'],
    ['HOST IP', '192.168.1.1'],
    ['SUBNET', '10.128.0.0/23'],
    ['EGRESS CIDRS', ''],
    ['EGRESS IPS', '["192.168.1.100"]'],
  ]);
  expect(showColumns(netNamespace({ egressIPs: ['192.168.1.100', '192.168.1.101'] }))).toEqual([
    ['NETID', '10'],
    ['EGRESS IPS', '["192.168.1.100","192.168.1.101"]'],
  ]);
});

test.each([
  ['global', { action: 'global' }],
  ['isolate', { action: 'isolate' }],
  ['join:bar', { action: 'join', namespace: 'bar' }],
  ['join:', undefined],
  ['join', undefined],
  ['join:a:b', undefined],
  ['Global', undefined],
  ['', undefined],
])('the change %j is %j', (text, wanted) => {
  expect(parseNetworkChange(text)).toEqual(wanted);
});
