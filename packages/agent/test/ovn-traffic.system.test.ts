/** Limits of pods in networks of the model ovn, with real agents and OVN, while the pods run. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ovnPodKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { eventually } from '@podwire/testkit';
import { keys, type Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, type OvnFixture } from './fakes/ovn-fixture.js';
import { addPod, type OvnPod, removePod } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;

before(async () => {
  fixture = await createOvnFixture('ovnflow');
  [one] = fixture.machines as [Machine, Machine];
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
