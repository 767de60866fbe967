/** A world in a real northbound database, with ovn-northd behind it. */
import { createNorthboundBackend, type NorthboundBackend } from '@podwire/backend-ovsdb/northbound';
import { topologyPlans } from '@podwire/cluster-ovn';
import { DesiredState } from '@podwire/desired-state';
import { type Change, createEngine, type Engine } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { silentLog } from '@podwire/platform';
import { OvnCentral } from '@podwire/testkit/ovn';
import { sourcesOf, type World } from './world.js';

export interface Packet {
  /** Logical port that it comes from. */
  readonly port: string;
  readonly switch: string;
  readonly mac: string;
  readonly from: string;
  /** MAC of who it is sent to: the gateway, where that is not in the same subnet. */
  readonly via: string;
  readonly to: string;
}

export class LogicalNetwork {
  readonly client: OvsdbClient;
  readonly engine: Engine;
  readonly #central: OvnCentral;
  #own: OvnCentral | undefined;
  readonly #backend: NorthboundBackend;
  readonly #world: World;
  #desired: DesiredState;

  private constructor(central: OvnCentral, world: World) {
    this.#central = central;
    this.#world = world;
    const endpoints = [central.northbound.endpoint];
    this.client = new OvsdbClient({ database: 'OVN_Northbound', endpoints });
    this.#backend = createNorthboundBackend(this.client);
    this.engine = createEngine({ backends: [this.#backend] });
    this.#desired = this.#createState();
  }

  /** With a central part of its own, which is closed with it. */
  static async start(world: World): Promise<LogicalNetwork> {
    const central = await OvnCentral.start();
    const network = await LogicalNetwork.open(central, world);
    network.#own = central;
    return network;
  }

  static async open(central: OvnCentral, world: World): Promise<LogicalNetwork> {
    const network = new LogicalNetwork(central, world);
    await network.follow(...allScopes(world));
    return network;
  }

  /** Plans what has changed and waits for ovn-northd. */
  async follow(...scopes: readonly string[]): Promise<void> {
    for (const scope of scopes) this.#desired.planner.markScope(scope);
    const { failed } = await this.#desired.follow({ engine: this.engine, signal: soon() });
    if (failed.size > 0) throw new AggregateError([...failed.values()], [...failed.keys()].join());
    await this.#backend.settle('southbound', { signal: soon(), timeout: 60_000 });
  }

  /** Waits until all nodes have what was planned. */
  reachNodes(): Promise<void> {
    return this.#backend.settle('hypervisors', { signal: soon(), timeout: 60_000 });
  }

  noteNodes(...names: readonly string[]): Promise<void> {
    this.#desired.planner.noteMembers('ovn-nodes', names);
    return this.follow(...names.map((name) => `ovn-node/${name}`));
  }

  /** As a controller that has just started. @returns everything that it changes */
  async restart(): Promise<readonly Change[]> {
    this.#desired = this.#createState();
    for (const scope of allScopes(this.#world)) this.#desired.planner.markScope(scope);
    return this.#desired.reconcile({ engine: this.engine, signal: soon() });
  }

  /** Logical ports that ovn-trace lets the packet out of. */
  async trace({ port, switch: of, mac, from, via, to }: Packet): Promise<readonly string[]> {
    const family = to.includes(':') ? 'ip6' : 'ip4';
    const terms = [`inport == "${port}"`, `eth.src == ${mac}`, `eth.dst == ${via}`];
    const flow = [...terms, `${family}.src == ${from}`, `${family}.dst == ${to}`, 'ip.ttl == 64'].join(
      ' && ',
    );
    const text = await this.#central.trace('--minimal', of, flow);
    return [...text.matchAll(/output\("([^"]+)"\)|output to "([^"]+)"/g)].map(
      ([, one, other]) => one ?? other!,
    );
  }

  nbctl(...words: readonly string[]): Promise<string> {
    return this.#central.nbctl(...words);
  }

  /** The number of rows of a table. */
  async count(table: string): Promise<number> {
    const text = await this.nbctl('--bare', '--columns=_uuid', 'list', table);
    return text.split('\n').filter((line) => line !== '').length;
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.#own?.close();
  }

  #createState(): DesiredState {
    const desired = new DesiredState({ kinds: this.engine.kinds, log: silentLog });
    for (const [kind, plan] of Object.entries(topologyPlans))
      desired.register({ kind, plan, ownerOf: (id) => `${kind}:${id}` });
    desired.addFacts(sourcesOf(this.#world));
    return desired;
  }
}

function allScopes({ vpcs, subnets, nodes, pods }: World): string[] {
  const all = { 'ovn-vpc': vpcs, 'ovn-subnet': subnets, 'ovn-node': nodes, 'ovn-pod': pods };
  return Object.entries(all).flatMap(([kind, names]) => [...names.keys()].map((name) => `${kind}/${name}`));
}

/** The end of a call that hangs. */
const soon = (): AbortSignal => AbortSignal.timeout(60_000);

export async function withNetwork(
  world: World,
  work: (network: LogicalNetwork) => Promise<void>,
): Promise<void> {
  const network = await LogicalNetwork.start(world);
  try {
    await work(network);
  } finally {
    await network.close();
  }
}

/** The MAC of the gateway is in the plan alone. */
export async function gatewayMac(network: LogicalNetwork, port: string): Promise<string> {
  return (await network.nbctl('get', 'Logical_Router_Port', port, 'mac')).trim().replaceAll('"', '');
}

/** From a pod to an address that its gateway knows the way to. */
export async function packetFrom(
  network: LogicalNetwork,
  { pods, subnets }: World,
  id: string,
  to: string,
): Promise<Packet> {
  const { subnet, mac, addresses, name, namespace } = pods.get(id)!;
  const from = addresses.find((address) => address.includes(':') === to.includes(':'))!;
  const via = await gatewayMac(network, `${subnets.get(subnet)!.vpc}-${subnet}`);
  return { port: `${name}.${namespace}`, switch: subnet, mac, from, via, to };
}
