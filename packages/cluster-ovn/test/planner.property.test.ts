/** Whatever comes, goes and changes: a planner that follows plans what one does that begins with all of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asking } from './address-cluster.js';
import { keyOf, keys, RememberedCluster } from './remembered-cluster.js';

type Step = (cluster: RememberedCluster) => void;

const ids = ['a/set-0', 'a/set-1', 'a/web', 'b/web', 'b/db', 'b/job'];
const subnetNames = ['blue', 'red', 'none'];
const oneOf = fc.constantFrom;
const splitId = (id: string): [string, string] => id.split('/') as [string, string];

const address = fc.integer({ min: 0, max: 9 }).map((last) => `10.17.0.${last}`);
const mac = oneOf('02:00:00:00:00:01', '02:00:00:00:00:02');

/** As people and agents write them. */
const annotations = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  address.map((addresses) => asking({ addresses })),
  fc.array(address, { minLength: 1, maxLength: 3 }).map((list) => asking({ pool: list.join() })),
  mac.map((text) => asking({ mac: text })),
  oneOf('1', '2', 'none').map((ingressRate) => asking({ ingressRate })),
  oneOf(...subnetNames, 'join').map((subnet) => asking({ subnet })),
  // Allocated already, perhaps to two.
  fc
    .tuple(oneOf(...subnetNames), address, mac)
    .map(([subnet, addresses, text]) => asking({ subnet, addresses, mac: text, isAllocated: 'true' }))
    .chain((held) =>
      oneOf({}, asking({ egressRate: '1' }), asking({ egressRate: '2' })).map((asked) => ({
        ...held,
        ...asked,
      })),
    ),
);

const putPod = fc
  .tuple(oneOf(...ids), oneOf('1', '2'), annotations, oneOf('n1', undefined))
  .map(([id, uid, asked, node]): Step => (cluster) => {
    const [namespace, name] = splitId(id);
    const set = name.startsWith('set') ? { statefulSet: 'set' } : {};
    const place = node === undefined ? {} : { node };
    cluster.putPod({ ...{ namespace, name, uid, annotations: asked }, ...set, ...place });
  });

const podKey = (id: string): string => keys.ovnPod(...splitId(id));

const putIp = fc
  .tuple(oneOf(...ids, '/n1'), oneOf('', '.net1'), oneOf('blue', 'red'), address, mac)
  .map(([id, provider, subnet, ipAddress, macAddress]): Step => (cluster) => {
    const [namespace, podName] = splitId(id);
    const name = namespace === '' ? `node-${podName}` : `${podName}.${namespace}${provider}`;
    const spec = { podName, namespace, subnet, ipAddress, macAddress };
    cluster.putObject('IP', name, spec);
  });

const ipNames = [...ids.map((id) => splitId(id).reverse().join('.')), 'node-n1', 'node-n2', 'web.a.net1'];

const putSubnet = fc
  .record({
    name: oneOf('blue', 'red'),
    range: oneOf(
      { cidrBlock: '10.17.0.0/28', excludeIps: ['10.17.0.3..10.17.0.5'] },
      { cidrBlock: '10.17.0.0/29' },
      { cidrBlock: '10.18.0.0/29' },
    ),
    vpc: oneOf('ovn-cluster', 'vpc'),
    namespaces: oneOf([], ['a'], ['b']),
  })
  .map(({ name, range, ...rest }): Step => (cluster) => {
    cluster.putObject('Subnet', name, { ...range, ...rest });
  });

const remove =
  (key: string): Step =>
  (cluster) =>
    cluster.write(key);
const spoil =
  (key: string): Step =>
  (cluster) =>
    cluster.write(key, 'no JSON');

/** A node that is there says something else, mostly: a planner follows that. */
const report = fc
  .tuple(oneOf('n1', 'n2'), oneOf('net1', 'net2'), oneOf('ready', 'no interface', 'no bridge'))
  .map(([name, network, state]): Step => (cluster) => {
    cluster.putNode(name, '192.0.2.1', { [`provider-network/${network}`]: state });
  });

/** Of pods and IP objects, and of what nodes say: a planner follows these. */
const small: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: putPod },
  { weight: 3, arbitrary: oneOf(...ids).map((id) => remove(podKey(id))) },
  { weight: 2, arbitrary: oneOf(...ids).map((id) => spoil(podKey(id))) },
  { weight: 3, arbitrary: putIp },
  oneOf(...ipNames).map((name) => remove(keyOf('IP', name))),
  report,
);

const putNetwork = fc
  .tuple(oneOf('net1', 'net2'), oneOf([], ['n1']))
  .map(([name, excludeNodes]): Step => (cluster) => {
    cluster.putObject('ProviderNetwork', name, { defaultInterface: 'eth1', excludeNodes });
  });

const putVlan = oneOf('net1', 'net2').map((provider): Step => (cluster) => {
  cluster.putObject('Vlan', 'office', { id: 10, provider });
});

const large: fc.Arbitrary<Step> = fc.oneof(
  ...[putSubnet, putNetwork, putVlan],
  oneOf('blue', 'red').map((name) => remove(keyOf('Subnet', name))),
  oneOf('blue', 'red').map((name) => spoil(keyOf('Subnet', name))),
  oneOf(...ipNames).map((name) => spoil(keyOf('IP', name))),
  fc.tuple(oneOf('n1', 'n2'), oneOf('192.0.2.1', '10.17.0.2')).map(
    ([name, ipv4]): Step =>
      (cluster) =>
        cluster.putNode(name, ipv4),
  ),
  oneOf('n1', 'n2').map((name) => remove(keys.node(name))),
  oneOf('n1', 'n2').map(
    (name): Step =>
      (cluster) =>
        cluster.putLease(name),
  ),
  oneOf('n1', 'n2').map((name) => remove(keys.nodeLease(name))),
);

const round = fc.record({
  steps: fc.array(fc.oneof({ weight: 8, arbitrary: small }, { weight: 1, arbitrary: large }), {
    maxLength: 4,
  }),
  isCarriedOut: fc.boolean(),
  hasStatuses: fc.boolean(),
});

it('plans the same by what has changed as by all that is there', async () => {
  let [rounds, followed] = [0, 0];
  const property = fc.asyncProperty(fc.array(round, { maxLength: 12 }), async (all) => {
    const cluster = await RememberedCluster.start();
    cluster.putObject('Subnet', 'blue', { cidrBlock: '10.17.0.0/29' });
    cluster.putObject('ProviderNetwork', 'net1', { defaultInterface: 'eth1' });
    for (const { steps, isCarriedOut, hasStatuses } of all) {
      for (const step of steps) step(cluster);
      const result = cluster.plan();
      expect(result.followed).toEqual(result.whole);
      if (hasStatuses) {
        const statuses = cluster.writeStatuses();
        expect(statuses.followed).toEqual(statuses.whole);
      }
      if (isCarriedOut) cluster.carryOut(result.plan);
    }
    rounds += all.length;
    followed += cluster.followed;
  });
  await fc.assert(property, { numRuns: 100 });
  expect(followed).toBeGreaterThan(rounds / 4);
});
