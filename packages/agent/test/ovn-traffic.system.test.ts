/** Limits and mirrors of pods in networks of the model ovn, with real agents and OVN, while the pods run. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ovnPodKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { eventually, pour, serveSink, startBeat, type TestNamespace } from '@podwire/testkit';
import { keys, type Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, type OvnFixture, referTo } from './fakes/ovn-fixture.js';
import { addPod, type OvnPod, removePod } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;
let two: Machine;

before(async () => {
  fixture = await createOvnFixture('ovnflow');
  [one, two] = fixture.machines as [Machine, Machine];
});
after(async () => fixture?.close());

/** As a person does it. @param changes by what follows `ovn.kubernetes.io/` */
async function annotate({ name }: OvnPod, changes: Readonly<Record<string, string>>): Promise<void> {
  const key = keys.ovnPod('shop', name);
  const record = (await fixture.get(ovnPodKind, key))!;
  const all = Object.entries(changes).map(([short, value]) => [`ovn.kubernetes.io/${short}`, value] as const);
  const annotations = { ...record.annotations, ...Object.fromEntries(all) };
  await fixture.etcd.control(['put', key, encodeObject(ovnPodKind, { ...record, annotations })]);
}

const interfaceOf = async ({ name }: OvnPod, column: string): Promise<string> => {
  const words = [
    '--bare',
    `--columns=${column}`,
    'find',
    'Interface',
    `external_ids:iface-id="${name}.shop"`,
  ];
  return (await fixture.nodes[0]!.switch.vsctl(...words)).trim();
};

const listBare = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Rates of the pod, which is the only one with any: of its port in both directions, and of its logical port. */
async function readRates(pod: OvnPod): Promise<object> {
  const { switch: openVSwitch } = fixture.nodes[0]!;
  const [policing, shaping, meters] = await Promise.all([
    interfaceOf(pod, 'ingress_policing_rate'),
    openVSwitch.vsctl('--bare', '--columns=other_config', 'find', 'QoS', 'type=linux-htb'),
    fixture.central.nbctl('--bare', '--columns=bandwidth', 'list', 'QoS'),
  ]);
  return { policing, shaping: listBare(shaping), meters: listBare(meters) };
}

async function untilRates(pod: OvnPod, wanted: object): Promise<void> {
  await eventually(`the rates are ${JSON.stringify(wanted)}`, async () => {
    const found = await readRates(pod);
    return JSON.stringify(found) === JSON.stringify(wanted);
  });
}

const none = { policing: '0', shaping: [], meters: [] };

test('rates come, change and go while a pod runs, and its link stays what it is', async () => {
  const pod = await addPod(one);
  const readLink = (): Promise<string> => interfaceOf(pod, '_uuid,ifindex,link_resets');
  const link = await readLink();
  await untilRates(pod, none);
  await annotate(pod, { ingress_rate: '3', egress_rate: '1' });
  const both = { policing: '1000', shaping: ['max-rate=3000000'], meters: ['burst=800 rate=1000'] };
  await untilRates(pod, both);
  await annotate(pod, { ingress_rate: '5', egress_rate: '2' });
  const others = { policing: '2000', shaping: ['max-rate=5000000'], meters: ['burst=1600 rate=2000'] };
  await untilRates(pod, others);
  await annotate(pod, { ingress_rate: '', egress_rate: '' });
  await untilRates(pod, none);
  assert.equal(await readLink(), link);
  await removePod(pod);
});

test('an agent that starts again keeps rates, and follows what has changed meanwhile', async () => {
  const pod = await addPod(one, { annotations: { 'ovn.kubernetes.io/egress_rate': '1' } });
  const limited = { policing: '1000', shaping: [], meters: ['burst=800 rate=1000'] };
  await untilRates(pod, limited);
  await one.agent.stop();
  await annotate(pod, { egress_rate: '2' });
  await one.agent.start();
  await untilRates(pod, { policing: '2000', shaping: [], meters: ['burst=1600 rate=2000'] });
  await removePod(pod);
  const listMeters = () => fixture.central.nbctl('--bare', '--columns=_uuid', 'list', 'QoS');
  await eventually('its meter is gone', async () => (await listMeters()).trim() === '');
});

/** Counts datagrams to pods that come by the mirror of a machine. */
async function watchMirror({ host: { namespace } }: Machine, pods: readonly OvnPod[]) {
  const rules = pods.map(({ addresses }) => `ip daddr ${addresses[0]!} udp dport 9 counter;`).join(' ');
  const chain = `chain seen { type filter hook ingress device mirror0 priority 0; ${rules} }`;
  await namespace.run(['nft', '-f', '-'], { input: `table netdev mirrored {\n${chain}\n}\n` });
  return {
    async count(pod: OvnPod): Promise<number> {
      const text = await namespace.run(['nft', 'list', 'table', 'netdev', 'mirrored']);
      const pattern = new RegExp(`daddr ${pod.addresses[0]!} .* packets (\\d+) `);
      return Number(pattern.exec(text)![1]);
    },
    close: () => namespace.run(['nft', 'delete', 'table', 'netdev', 'mirrored']),
  };
}

/** Open vSwitch 3.1 does not look again at flows that exist when a mirror changes: they go on as they were. */
const purgeFlows = (): Promise<string> => fixture.nodes[0]!.switch.appctl('revalidator/purge');

test('the mirror of a node gets what is sent to pods that are annotated, while they are', async () => {
  const [first, second] = [
    await addPod(one, { annotations: { 'ovn.kubernetes.io/mirror': 'true' } }),
    await addPod(one),
  ];
  const sender = await addPod(two);
  const mirror = await watchMirror(one, [first, second]);
  const [from] = sender.addresses as [string];
  const beat = await startBeat(sender.namespace, {
    from,
    to: [first, second].map((pod) => pod.addresses[0]!),
  });
  const untilMore = async (pod: OvnPod): Promise<void> => {
    const before = await mirror.count(pod);
    await eventually(
      `packets to ${pod.name} are mirrored`,
      async () => (await mirror.count(pod)) > before + 3,
    );
  };
  await untilMore(first);
  assert.equal(await mirror.count(second), 0);
  await annotate(second, { mirror: 'true' });
  await eventually('the second one is mirrored as well', async () => {
    await purgeFlows();
    return (await mirror.count(second)) > 0;
  });
  await annotate(first, { mirror: 'false' });
  await eventually('the second one alone is mirrored', async () => {
    await purgeFlows();
    const before = await mirror.count(first);
    await untilMore(second);
    return (await mirror.count(first)) === before;
  });
  await beat.stop();
  await mirror.close();
  for (const pod of [first, second, sender]) await removePod(pod);
});

test('the mirror of a node gets what is sent to any pod where the network says so', async () => {
  const options = { datapath: 'netdev', mirror: true };
  const networks = [{ name: 'default', model: 'ovn', options }];
  const other = await createOvnFixture('ovnmirror', { config: { networks } });
  try {
    const [machine] = other.machines as [Machine];
    const [sender, receiver] = [await addPod(machine), await addPod(machine)];
    const mirror = await watchMirror(machine, [receiver]);
    const beat = await startBeat(sender.namespace, {
      from: sender.addresses[0]!,
      to: [receiver.addresses[0]!],
    });
    await eventually('packets are mirrored', async () => (await mirror.count(receiver)) > 3);
    await beat.stop();
  } finally {
    await other.close();
  }
});

/** bit/s of a transfer of 3 MB, of which a burst of 1 MB may pass at once. */
async function measure(from: TestNamespace, to: TestNamespace, address: string): Promise<number> {
  const sink = await serveSink(to, address);
  try {
    return (await pour(from, address, sink.port, 3_000_000)).rate;
  } finally {
    await sink.close();
  }
}

test('a node and its pods send to each other no faster than the rates of the node', async () => {
  const pod = await addPod(one);
  const node = one.host.namespace;
  const outward = (): Promise<number> => measure(pod.namespace, node, '192.0.2.1');
  const inward = (): Promise<number> => measure(node, pod.namespace, pod.addresses[0]!);
  // A busy machine makes a transfer slower, and never faster.
  for (const each of [outward, inward])
    await eventually('nothing limits a node at first', async () => (await each()) > 20_000_000);
  const ip = (await fixture.read(referTo('IP', `node-${one.name}`)))!;
  const annotations = { 'ovn.kubernetes.io/ingress_rate': '10', 'ovn.kubernetes.io/egress_rate': '10' };
  await fixture.apply({ ...ip, metadata: { ...ip.metadata, annotations } });
  for (const each of [outward, inward])
    await eventually('a node keeps to its rates', async () => (await each()) < 16_000_000);
  await fixture.apply(ip);
  for (const each of [outward, inward])
    await eventually('nothing limits a node any more', async () => (await each()) > 20_000_000);
  await removePod(pod);
});
