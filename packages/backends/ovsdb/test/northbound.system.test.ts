/** ovn-northd takes the rows as its configuration, and writes nothing into them that looks like drift. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine, type Owned } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { OvnCentral } from '@podwire/testkit/ovn';
import { createNorthboundBackend } from '../src/northbound/index.js';
import { makeSubnet } from './northbound-example.js';
import { base, owned, port } from './northbound-subject.js';

const call = () => ({ signal: AbortSignal.timeout(60_000), timeout: 60_000 });

function open({ northbound }: OvnCentral) {
  const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints: [northbound.endpoint] });
  const backend = createNorthboundBackend(client);
  return { client, backend, engine: createEngine({ backends: [backend] }) };
}

async function withCentral(
  work: (central: OvnCentral, opened: ReturnType<typeof open>) => Promise<void>,
): Promise<void> {
  const central = await OvnCentral.start();
  const opened = open(central);
  try {
    await work(central, opened);
  } finally {
    await opened.engine.close();
    await central.close();
  }
}

/** The values of one column of the southbound database, in order. */
async function list(central: OvnCentral, table: string, column: string): Promise<readonly string[]> {
  const text = await central.sbctl('--bare', '--no-headings', `--columns=${column}`, 'list', table);
  return text
    .split(/\n+/)
    .filter((line) => line !== '')
    .sort();
}

const addressesOf = (central: OvnCentral, name: string): Promise<string> =>
  central.sbctl('--bare', '--no-headings', '--columns=addresses', 'find', 'Address_Set', `name=${name}`);

test('a switch with two ports has port bindings and logical flows once it is settled', () =>
  withCentral(async (central, { engine, backend }) => {
    const pods: Owned = {
      owner: 'pods',
      resources: [
        { kind: 'logical-switch', name: 'blue' },
        port('one', { addresses: ['00:00:00:00:00:01 10.16.0.5'] }),
        port('two', { addresses: ['00:00:00:00:00:02 10.16.0.6'] }),
      ],
    };
    await engine.apply(pods, call());
    await backend.settle('southbound', call());
    assert.deepEqual(await list(central, 'Port_Binding', 'logical_port'), ['one', 'two']);
    const flows = await central.sbctl('lflow-list', 'blue');
    for (const mac of ['00:00:00:00:00:01', '00:00:00:00:00:02'])
      assert.match(flows, new RegExp(`match=\\(eth.dst == ${mac}\\)`));
    const counts = (await central.nbctl('get', 'NB_Global', '.', 'nb_cfg', 'sb_cfg')).trim().split('\n');
    assert.deepEqual(counts, ['1', '1']);

    await engine.remove(pods, call());
    await backend.settle('southbound', call());
    assert.deepEqual(await list(central, 'Port_Binding', 'logical_port'), []);
    assert.deepEqual(await list(central, 'Datapath_Binding', '_uuid'), []);
  }));

test('every kind arrives in the southbound database, and a new process finds nothing to do', () =>
  withCentral(async (central, { engine, backend }) => {
    for (const each of [base, owned]) await engine.apply(each, call());
    await backend.settle('southbound', call());
    const flows = await central.sbctl('lflow-list');
    const pieces = [
      ...['ip4.src == $blue.n1_ip4', 'reg0 = 100.64.0.2', 'ip4.src == 10.16.0.5/32', 'put_dhcp_opts'],
      ...['ct_snat(192.0.2.1)', 'outport = "vpc-blue"', 'outport == @blue.n1 && ip4'],
      'ct_lb_mark(backends=10.16.0.5:8080)',
    ];
    for (const piece of pieces) assert.ok(flows.includes(piece), `no flow has ${piece}`);
    const sets = await list(central, 'Address_Set', 'name');
    assert.deepEqual(
      ['blue.n1_ip4', 'friends'].filter((name) => !sets.includes(name)),
      [],
    );
    assert.equal((await addressesOf(central, 'blue.n1_ip4')).trim(), '10.16.0.5');

    const second = open(central);
    try {
      assert.deepEqual(await second.engine.reconcile([base, owned], call()), []);
    } finally {
      await second.engine.close();
    }
    await engine.remove(owned, call());
    await engine.remove(base, call());
    await backend.settle('southbound', call());
    assert.deepEqual(await list(central, 'Datapath_Binding', '_uuid'), []);
  }));

test('the example of the README makes a policy that follows the ports of a group', () =>
  withCentral(async (central) => {
    const { northbound } = central;
    const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints: [northbound.endpoint] });
    await makeSubnet(client, call().signal);
    assert.equal((await addressesOf(central, 'blue.n1_ip4')).trim(), '10.16.0.5');
  }));

test('what ovn-nbctl has made beside ours and in ours stays', () =>
  withCentral(async (central, { engine }) => {
    await engine.apply(base, call());
    await central.nbctl('lsp-add', 'blue', 'theirs');
    await central.nbctl('lr-route-add', 'vpc', '10.20.0.0/16', '100.64.0.9');
    await central.nbctl('ls-add', 'green');
    await central.nbctl('pg-add', 'greens', 'theirs');
    await engine.apply(owned, call());
    const groups = owned.resources.filter(({ kind }) => kind === 'port-group');
    const show = (): Promise<string[]> =>
      Promise.all([
        central.nbctl('lsp-list', 'blue'),
        central.nbctl('lr-route-list', 'vpc'),
        central.nbctl('ls-list'),
        central.nbctl('list', 'Port_Group', 'greens'),
      ]);
    await engine.reconcile([base, { owner: owned.owner, resources: groups }], call());
    const [ports, routes, switches, group] = await show();
    assert.deepEqual(ports!.match(/\(\w+\)/g), ['(theirs)']);
    assert.deepEqual(routes!.match(/\d+\.\d+\.\d+\.\d+\/\d+/g), ['10.20.0.0/16']);
    assert.match(switches!, /\(green\)/);
    assert.match(group!, /ports +: \[[-0-9a-f]{36}\]/);
  }));

test('a hypervisor that lags holds up what is to reach all of them', () =>
  withCentral(async (central, { engine, backend }) => {
    await engine.apply(base, call());
    await central.sbctl('chassis-add', 'n1', 'geneve', '192.0.2.1');
    await central.sbctl('create', 'Chassis_Private', 'name=n1');
    await backend.settle('southbound', call());
    const settled = backend.settle('hypervisors', call());
    const early = backend.settle('hypervisors', { ...call(), timeout: 500 });
    await assert.rejects(early, { code: 'BACKEND_SILENT', message: /not every ovn-controller/ });
    await central.sbctl('set', 'Chassis_Private', 'n1', 'nb_cfg=9');
    await settled;
  }));

test('an ovn-northd that is dead holds up what is written, and takes all of it over when it is back', () =>
  withCentral(async (central, { engine, backend }) => {
    await backend.settle('southbound', call());
    await central.killDaemon();
    for (const each of [base, owned]) await engine.apply(each, call());
    const early = backend.settle('southbound', { ...call(), timeout: 500 });
    await assert.rejects(early, { code: 'BACKEND_SILENT', message: /ovn-northd has not/ });
    assert.deepEqual(await list(central, 'Port_Binding', 'logical_port'), []);
    await central.startDaemon();
    await backend.settle('southbound', call());
    const ports = await list(central, 'Port_Binding', 'logical_port');
    assert.deepEqual(ports, ['blue-vpc', 'broken', 'vpc-blue', 'vpc-join', 'web']);
  }));

test('a northbound database that comes back empty is filled again, and counts from the beginning', () =>
  withCentral(async (central, { engine, backend }) => {
    for (const each of [base, owned]) await engine.apply(each, call());
    for (let count = 1; count <= 3; count++) await backend.settle('southbound', call());
    await central.northbound.erase();
    const changes = await engine.reconcile([base, owned], call());
    assert.deepEqual(new Set(changes.map(({ action }) => action)), new Set(['repaired']));
    await backend.settle('southbound', call());
    assert.equal((await central.nbctl('get', 'NB_Global', '.', 'nb_cfg')).trim(), '1');
    const ports = await list(central, 'Port_Binding', 'logical_port');
    assert.deepEqual(ports, ['blue-vpc', 'broken', 'vpc-blue', 'vpc-join', 'web']);
    assert.equal((await addressesOf(central, 'blue.n1_ip4')).trim(), '10.16.0.5');
  }));

test('a writer that was succeeded changes nothing any more, and ovn-northd keeps the claim', () =>
  withCentral(async (central, { engine, backend }) => {
    const next = open(central);
    try {
      await backend.claim('one/1', call());
      await engine.apply(base, call());
      await next.backend.claim('two/2', call());
      await assert.rejects(engine.apply(owned, call()), { code: 'STORE_CONFLICT' });
      await next.engine.apply(owned, call());
      await next.backend.settle('southbound', call());
      const writer = await central.nbctl('get', 'NB_Global', '.', 'external_ids:podwire-writer');
      assert.equal(writer.trim(), '"two/2"');
    } finally {
      await next.engine.close();
    }
  }));
