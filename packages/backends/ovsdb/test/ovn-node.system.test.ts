/** A node of OVN with a real ovn-controller: flows that are waited for, and bridge mappings. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { eventually } from '@podwire/testkit';
import { OvnCluster, type OvnNode } from '@podwire/testkit/ovn';
import { createSwitchBackend } from '../src/index.js';
import { createNorthboundBackend } from '../src/northbound/index.js';

const call = () => ({ signal: AbortSignal.timeout(60_000) });

let cluster: OvnCluster;
let node: OvnNode;
let northbound: Engine;
let engine: Engine;

before(async () => {
  cluster = await OvnCluster.start({ name: 'ovnnode', nodes: 1 });
  node = cluster.nodes[0]!;
  const clientOf = (database: string, endpoint: string): OvsdbClient =>
    new OvsdbClient({ database, endpoints: [endpoint] });
  const central = clientOf('OVN_Northbound', cluster.central.northbound.endpoint);
  northbound = createEngine({ backends: [createNorthboundBackend(central)] });
  const local = clientOf('Open_vSwitch', node.switch.database.endpoint);
  engine = createEngine({ backends: [createSwitchBackend(local)] });
  await northbound.apply(network, call());
  await node.host.namespace.ip('link add web_h type veth peer name web_c', 'link set web_h up');
});
after(async () => {
  for (const each of [engine, northbound] as (Engine | undefined)[]) await each?.close();
  await (cluster as OvnCluster | undefined)?.close();
});

const logicalPort = (name: string): Resource => ({
  ...{ kind: 'logical-switch-port', name, switch: 'blue', addresses: ['00:00:00:00:00:10 10.16.0.10'] },
});
const network: Owned = {
  owner: 'network',
  resources: [
    { kind: 'logical-switch', name: 'blue' },
    {
      ...{ kind: 'logical-switch-port', name: 'blue-net1', switch: 'blue', type: 'localnet' },
      ...{ addresses: ['unknown'], options: { network_name: 'net1' } },
    },
  ],
};
const logical: Owned = { owner: 'web', resources: [logicalPort('web.default')] };

const podOf = (timeout: number, id = 'web.default'): Owned => ({
  owner: 'endpoint:1',
  resources: [
    {
      ...{ kind: 'ovs-port', name: 'web_h', bridge: 'br-int' },
      interfaces: [{ name: 'web_h', externalIds: { 'iface-id': id } }],
    },
    { kind: 'ovs-port-installed', port: 'web_h', timeout },
  ],
});
const pod = podOf(30_000);

const isInstalled = async (): Promise<boolean> =>
  (await node.switch.vsctl('get', 'Interface', 'web_h', 'external_ids')).includes('ovn-installed="true"');

test('a port of a logical port has its flows when it is applied, again and again', async () => {
  await northbound.apply(logical, call());
  for (const _ of [1, 2, 3]) {
    await engine.apply(pod, call());
    assert.ok(await isInstalled());
    assert.deepEqual(await engine.verify(pod, call()), []);
    await engine.remove(pod, call());
  }
  await northbound.remove(logical, call());
});

test('a port that no logical port belongs to is given up', async () => {
  await assert.rejects(engine.apply(podOf(1_000, 'absent.default'), call()), {
    code: 'PORT_NOT_INSTALLED',
    message: 'ovn-controller has not put in the flows of port web_h (iface-id absent.default)',
  });
});

test('a port is waited for until ovn-controller runs and the logical port is made', async () => {
  await node.killController();
  const applied = engine.apply(pod, call());
  await node.startController();
  await northbound.apply(logical, call());
  await applied;
  assert.ok(await isInstalled());
});

test('a logical port that has gone is reported, and is no failure any more when it is back', async () => {
  await northbound.remove(logical, call());
  await eventually('its flows are taken out', async () => !(await isInstalled()));
  const codes = async (): Promise<unknown[]> =>
    (await engine.reconcile([pod], call())).map(({ error }) => (error as { code: string }).code);
  await eventually('it is reported', async () => (await codes())[0] === 'PORT_NOT_INSTALLED');
  await northbound.apply(logical, call());
  await eventually('it is no failure', async () => (await codes()).length === 0);
});

test('ovn-controller joins bridges by an entry of the mappings, and parts them when it goes', async () => {
  const bridges: Owned = {
    owner: 'provider',
    resources: [{ kind: 'ovs-bridge', name: 'br-net1', datapathType: 'netdev' }],
  };
  const mappings: Owned = {
    owner: 'mappings',
    resources: [{ kind: 'ovs-setting-entry', key: 'ovn-bridge-mappings', name: 'net1', value: 'br-net1' }],
  };
  let turn = 0;
  await engine.apply(bridges, call());
  await engine.apply(mappings, call());
  const ports = async (): Promise<string> => node.switch.vsctl('list-ports', 'br-net1');
  await eventually('the bridge has a patch', async () => (await ports()).includes('patch-'));
  await engine.remove(mappings, call());
  await eventually('the bridge has no patch', async () => {
    // ovn-controller 23.03 keeps patches for its next ten turns, and takes one when something changes.
    await node.switch.vsctl('set', 'Open_vSwitch', '.', `external_ids:turn="${turn++}"`);
    return (await ports()) === '';
  });
  await engine.remove(bridges, call());
});
