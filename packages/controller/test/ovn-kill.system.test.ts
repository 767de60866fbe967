/**
 * `kill -9` of the controller of OVN at every step of a change, on real etcd and a real northbound database. Its successor ends with the
 * same rows, and pods keep the addresses that were written down.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { IP } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { type RunningProcess, start, until } from '@podwire/testkit';
import { type FaultInjector, type Occurrence, openFaultInjector } from '@podwire/testkit/fault-injection';
import { showLogicalNetwork } from '../src/index.js';
import { OvnCluster } from './ovn-cluster.js';

const program = path.join(import.meta.dirname, 'faulty-controller.js');

let cluster: OvnCluster;
let injector: FaultInjector;
let orders: string;
let controller: RunningProcess;

before(async () => {
  cluster = await OvnCluster.start();
  orders = path.join(cluster.central.northbound.directory, 'orders');
  injector = openFaultInjector(orders);
  injector.clear();
  for (const number of [1, 2]) await cluster.addNode(number);
  await cluster.apply('Subnet', 'blue', { cidrBlock: '10.17.0.0/24', namespaces: ['shop'] });
  for (const name of ['web', 'db', 'cache']) await cluster.addPod('shop', name, { node: 'n1' });
  startController();
  await untilThere(go);
});
after(async () => {
  await killController();
  await cluster?.close();
});

function startController(): void {
  controller = start([process.execPath, program, JSON.stringify(cluster.places), orders]);
}

async function killController(): Promise<void> {
  controller?.kill('SIGKILL');
  await controller?.exited;
}

/** Columns that say what a row is for, without those that hold numbers of this database. */
const columns = {
  Logical_Switch: 'name',
  Logical_Router: 'name',
  Logical_Switch_Port: 'name,type,addresses,options,tag',
  Logical_Router_Port: 'name,mac,networks',
  Logical_Router_Static_Route: 'ip_prefix,nexthop,policy',
  Logical_Router_Policy: 'priority,match,action,nexthops',
  Port_Group: 'name',
  ACL: 'priority,direction,match,action',
  QoS: 'priority,direction,match,bandwidth',
} as const;

async function readRows(): Promise<string[]> {
  const tables = Object.entries(columns).map(async ([table, wanted]) => {
    const text = await cluster.central.nbctl(
      '--format=csv',
      '--no-headings',
      `--columns=${wanted}`,
      'list',
      table,
    );
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => `${table} ${line}`);
  });
  return (await Promise.all(tables)).flat().sort();
}

/** Addresses by the names of IP objects. */
async function readAddresses(): Promise<Map<string, string>> {
  const { objects } = await cluster.source.list({ kinds: [{ apiVersion: 'kubeovn.io/v1', kind: 'IP' }] });
  return new Map(
    objects.map(({ object }) => [object.metadata.name, (object as unknown as IP).spec.ipAddress]),
  );
}

/** All pods have an address of their own, everything is in the database, and nothing is wrong with it. */
async function untilWhole(pods: number): Promise<void> {
  await until(
    `${pods} pods have what they need`,
    async () => {
      const options = { root: '/podwire', clock: systemClock, log: silentLog };
      const signal = AbortSignal.timeout(10_000);
      const report = await showLogicalNetwork({ ...cluster.places, ...options, signal });
      const subnets = report.vpcs.flatMap((vpc) => vpc.subnets);
      const ports = subnets.flatMap((subnet) => subnet.ports);
      const drift = [...report.vpcs, ...subnets, ...ports].flatMap((each) => each.drift);
      assert.deepEqual([report.problems, drift], [[], []]);
      const found = await readAddresses();
      assert.equal(new Set(found.values()).size, pods + 2, [...found].join(' '));
      assert.equal(ports.filter(({ pod }) => pod !== undefined).length, pods);
      return true;
    },
    { timeout: 30_000 },
  );
}

interface Change {
  readonly name: string;
  /** The controller passes them at least, by their beginning. */
  readonly steps: readonly string[];
  readonly make: () => Promise<void>;
  readonly pods: number;
}

const come: Change = {
  name: 'pods and a subnet come, and another one becomes private',
  steps: ['plan:made', 'plan:written', 'apply:', 'plan:applied'],
  pods: 5,
  async make() {
    await cluster.apply('Subnet', 'green', { cidrBlock: '10.18.0.0/24', namespaces: ['bank'] });
    const annotations = { 'ovn.kubernetes.io/egress_rate': '5' };
    await cluster.addPod('bank', 'vault', { node: 'n2', annotations });
    await cluster.addPod('shop', 'search', { node: 'n2' });
    const spec = { cidrBlock: '10.17.0.0/24', namespaces: ['shop'] };
    await cluster.apply('Subnet', 'blue', { ...spec, private: true, allowSubnets: ['10.18.0.0/24'] });
  },
};

const go: Change = {
  name: 'all of that goes again',
  steps: ['plan:made', 'plan:written', 'remove:', 'plan:applied'],
  pods: 3,
  async make() {
    await cluster.removePod('bank', 'vault');
    await cluster.removePod('shop', 'search');
    await cluster.apply('Subnet', 'blue', { cidrBlock: '10.17.0.0/24', namespaces: ['shop'] });
    await until('the subnet is unused', async () => !(await readAddresses()).has('vault.bank'));
    await cluster.delete('Subnet', 'green');
  },
};

const erase: Change = {
  name: 'the database is emptied',
  steps: ['plan:claimed', 'repair:', 'plan:applied'],
  pods: 3,
  make: () => cluster.central.northbound.erase(),
};

/** Of the states: each is reached again and again. Rows of pods that come again have other addresses each time. */
const rowsAfter = new Map<Change, readonly string[]>();

async function readLasting(): Promise<string[]> {
  return (await readRows()).filter((row) => !/search\.shop|vault\.bank/.test(row));
}

/** Rows that are too many go last. */
async function untilThere(change: Change): Promise<void> {
  await untilWhole(change.pods);
  const rows = rowsAfter.get(change) ?? (await readLasting());
  rowsAfter.set(change, rows);
  await until('the rows are those of the first time', async () => {
    assert.deepEqual(await readLasting(), rows);
    return true;
  });
}

async function reach(change: Change): Promise<void> {
  await change.make();
  await untilThere(change);
}

/** @returns whether it died there: a plan that comes between passes the step in its own way */
async function dieAt(occurrence: Occurrence, change: Change): Promise<boolean> {
  injector.clear();
  injector.inject({ ...occurrence, signal: 'SIGKILL' });
  const making = change.make();
  const there = making.then(() => untilThere(change)).catch(() => undefined);
  await Promise.race([controller.exited, there]);
  const isDead = !injector.isPending();
  if (isDead) assert.equal((await controller.exited).signal, 'SIGKILL');
  injector.clear();
  const written = await readAddresses();
  if (isDead) {
    await cluster.endLead();
    startController();
  }
  await making;
  await untilThere(change);
  const found = await readAddresses();
  for (const [name, address] of written) if (found.has(name)) assert.equal(found.get(name), address, name);
  return isDead;
}

/** The first and the last time of each; all of them with `npm run test:long`. */
const select = (steps: readonly Occurrence[]): readonly Occurrence[] =>
  process.env['PODWIRE_TEST_LONG'] === '1'
    ? steps
    : steps.filter(
        ({ point, skip }) => skip === 0 || !steps.some((one) => one.point === point && one.skip > skip),
      );

async function dieAtEach(to: Change, back: Change | undefined, context: TestContext): Promise<void> {
  if (back !== undefined) await reach(back);
  injector.clear();
  await reach(to);
  const steps = injector.occurrences();
  for (const begin of to.steps)
    assert.ok(
      steps.some(({ point }) => point.startsWith(begin)),
      `no step ${begin}`,
    );
  let deaths = 0;
  for (const step of select(steps)) {
    if (back !== undefined) await reach(back);
    try {
      if (await dieAt(step, to)) deaths += 1;
    } catch (cause) {
      throw new Error(`after a death at ${step.point} (${step.skip}): ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  assert.ok(deaths >= to.steps.length, `it died ${deaths} times`);
  context.diagnostic(`died ${deaths} times at ${steps.length} steps`);
}

test(`a controller that dies while ${come.name} has a successor that ends there`, (context) =>
  dieAtEach(come, go, context));

test(`a controller that dies while ${go.name} has a successor that ends there`, (context) =>
  dieAtEach(go, come, context));

test(`a controller that dies when ${erase.name} has a successor that fills it`, (context) =>
  dieAtEach(erase, undefined, context));
