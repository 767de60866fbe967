/** The controller of the model ovn, which finds many pods without an answer: until all have their rows. */
import { keysBelow, type Node, nodeKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { checkObject, createStoreSource } from '@podwire/objects';
import { OvsdbClient } from '@podwire/ovsdb';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store } from '@podwire/store';
import { start } from '@podwire/testkit';
import { type EtcdSpec, startEtcd } from '@podwire/testkit/etcd';
import { OvnCentral } from '@podwire/testkit/ovn';
import type { Programs, StepCall } from '../call.js';
import { residentBytes } from '../process-cost.js';
import { startController } from './cluster.js';

export interface OvnSyncOptions {
  readonly pods: number;
  readonly subnets: number;
}

export interface OvnSync {
  readonly pods: number;
  readonly subnets: number;
  /** Milliseconds from the start of the process until the northbound database has the ports of all pods. */
  readonly time: number;
  /** Of the process then. */
  readonly residentBytes: number;
}

type Call = OvnSyncOptions & Programs & StepCall;

export async function measureOvnSync(options: Call): Promise<OvnSync> {
  const etcd = await startEtcd({});
  const central = await OvnCentral.start().catch(async (error: unknown) => {
    await etcd.close();
    throw error;
  });
  try {
    await writeCluster(etcd.spec, options);
    options.progress('the controller of the model ovn', 0, 1);
    const figures = await startAndFollow(etcd.spec, central, options);
    options.progress('the controller of the model ovn', 1, 1);
    return { pods: options.pods, subnets: options.subnets, ...figures };
  } finally {
    await central.close().finally(() => etcd.close());
  }
}

const keys = keysBelow('/podwire');
const nodes = ['n1', 'n2', 'n3'];

async function writeCluster(spec: EtcdSpec, { pods, subnets }: OvnSyncOptions): Promise<void> {
  const store = await openStore(spec, { log: silentLog, clock: systemClock });
  try {
    for (const [index, name] of nodes.entries()) await store.put(keys.node(name), describeNode(name, index));
    for (let subnet = 0; subnet < subnets; subnet++) await writeSubnet(store, subnet);
    for (let pod = 0; pod < pods; pod++) await writePod(store, pod, subnets);
  } finally {
    await store.close();
  }
}

function describeNode(name: string, index: number): string {
  const node: Node = {
    ...{ name, instance: `${name}-1`, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 },
    addresses: { ipv4: `192.0.2.${index + 1}/24` },
  };
  return encodeObject(nodeKind, node);
}

async function writeSubnet(store: Store, index: number): Promise<void> {
  const spec = { cidrBlock: `10.${30 + index}.0.0/16`, namespaces: [`project${index}`] };
  const metadata = { name: `subnet${index}` };
  const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const source = createStoreSource({ store, root: keys.root, clock: systemClock });
  await source.save(checked.object, undefined);
}

async function writePod(store: Store, index: number, subnets: number): Promise<void> {
  const [namespace, name] = [`project${index % subnets}`, `pod${index}`];
  const node = nodes[index % nodes.length]!;
  const record: OvnPodRecord = { namespace, name, uid: name, annotations: {}, node };
  await store.put(keys.ovnPod(namespace, name), encodeObject(ovnPodKind, record));
}

/** Milliseconds: a busy machine is no failure. */
const patience = 120_000;

async function startAndFollow(
  store: EtcdSpec,
  central: OvnCentral,
  { agent, pods, signal }: Call,
): Promise<Pick<OvnSync, 'time' | 'residentBytes'>> {
  const client = new OvsdbClient({
    ...{ database: 'OVN_Northbound', endpoints: [central.northbound.endpoint] },
  });
  const cache = await client.monitor({ Logical_Switch_Port: { columns: ['name'] } });
  const isPod = (name: unknown): boolean => typeof name === 'string' && /^pod\d+\./.test(name);
  const count = (): number =>
    [...cache.rows('Logical_Switch_Port').values()].filter(({ name }) => isPod(name)).length;
  const begin = performance.now();
  const controller = startController({ host: { start }, agent, store, central });
  try {
    await cache.until(() => count() >= pods, { timeout: patience, signal });
    return { time: performance.now() - begin, residentBytes: residentBytes(controller.pid) };
  } finally {
    await controller.stop();
    await client.close();
  }
}
