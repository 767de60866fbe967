/** The logical network of Kube-OVN in OVN's northbound database, as it shall be by the facts of the last look. */
import { createNorthboundBackend, type NorthboundBackend } from '@podwire/backend-ovsdb/northbound';
import { type OvnFacts, type OvnPod, topologyPlans } from '@podwire/cluster-ovn';
import { DesiredState } from '@podwire/desired-state';
import { type Change, type Changes, createEngine, type Engine, type Hint } from '@podwire/engine';
import { isEqual } from '@podwire/objects';
import type { OvsdbClient } from '@podwire/ovsdb';
import { type FaultPoints, type Log, noFaults } from '@podwire/platform';

const noFacts: OvnFacts = { vpcs: new Map(), subnets: new Map(), nodes: new Map(), pods: new Map() };

/** Facts by the kind of scope that each is planned from. */
const scopesOf = ({ vpcs, subnets, nodes, pods }: OvnFacts) => ({
  'ovn-vpc': vpcs,
  'ovn-subnet': subnets,
  'ovn-node': nodes,
  'ovn-pod': pods,
});

export class LogicalNetwork {
  readonly #backend: NorthboundBackend;
  readonly #engine: Engine;
  readonly #desired: DesiredState;
  readonly #changes: readonly Changes[];
  #facts = noFacts;
  #pods = new Map<string, OvnPod>();

  /** @param client of the database `OVN_Northbound`; it is closed with this */
  constructor(client: OvsdbClient, log: Log, faults: FaultPoints = noFaults) {
    const backend = (this.#backend = createNorthboundBackend(client));
    this.#engine = createEngine({ backends: [backend], faults });
    this.#changes = (backend.changes ?? []).map((feed) => feed.open());
    this.#desired = new DesiredState({ kinds: this.#engine.kinds, log });
    for (const [kind, plan] of Object.entries(topologyPlans))
      this.#desired.register({ kind, plan, ownerOf: (id) => `${kind}/${id}` });
    this.#desired.addFacts({
      'ovn-vpc': (name) => this.#facts.vpcs.get(name),
      'ovn-subnet': (name) => this.#facts.subnets.get(name),
      'ovn-node': (name) => this.#facts.nodes.get(name),
      'ovn-nodes': () => this.#facts.nodes,
      'ovn-pod': (id) => this.#pods.get(id),
    });
  }

  /** Why scopes could not be planned or applied. */
  get problems(): readonly unknown[] {
    return [...this.#desired.problems().values()];
  }

  /** No change of a controller that has claimed before passes from then on. @throws PodwireError BACKEND_SILENT; the signal's reason */
  claim(writer: string, signal: AbortSignal): Promise<void> {
    return this.#backend.claim(writer, { signal });
  }

  /** Answers whether a pod has rows and all of them are there. Nothing was tried yet for those of new facts. @param id NAMESPACE/NAME */
  isInPlace(id: string): boolean {
    const scope = `ovn-pod/${id}` as const;
    if (this.#desired.problemOf(scope) !== undefined) return false;
    const { planner } = this.#desired;
    try {
      // A pod whose subnet is not there wants no row.
      return planner.isInForce([scope]) && planner.sizeOf(scope) > 0;
    } catch {
      // Its rows could not be planned or made.
      return false;
    }
  }

  /** Reports if others have touched rows of ours since the last call, or may have. Costs nothing where they have not. */
  readDrift(): boolean {
    const hints = this.#changes.flatMap((changes) => changes.read().hints);
    if (hints.length === 0) return false;
    const planned = this.#desired.planner.planned();
    return hints.some(
      ({ lost, marked, keys }: Hint) => lost ?? marked ?? keys.some((key) => planned.has(key)),
    );
  }

  /** Other facts than before; applied by {@link follow} or {@link reconcile}. */
  take(facts: OvnFacts): void {
    const [before, after] = [scopesOf({ ...this.#facts, pods: this.#pods }), scopesOf(facts)];
    this.#facts = facts;
    this.#pods = new Map(facts.pods);
    for (const kind of Object.keys(after) as (keyof typeof after)[])
      this.#mark(kind, listChanged(before[kind], after[kind]));
  }

  /** Other facts of these pods alone, by id; undefined: it is gone. */
  takePods(pods: ReadonlyMap<string, OvnPod | undefined>): void {
    const changed = [...pods].filter(([id, fact]) => !isEqual(this.#pods.get(id), fact));
    for (const [id, fact] of changed)
      if (fact === undefined) this.#pods.delete(id);
      else this.#pods.set(id, fact);
    this.#mark(
      'ovn-pod',
      changed.map(([id]) => id),
    );
  }

  #mark(kind: keyof ReturnType<typeof scopesOf>, changed: readonly string[]): void {
    const { planner } = this.#desired;
    const names = changed.map((name) => `${kind}/${name}` as const);
    for (const name of names) planner.markScope(name);
    // Plans of other scopes read it, too.
    planner.noteChanged(names);
    if (kind === 'ovn-node') planner.noteMembers('ovn-nodes', changed);
  }

  /** Applies what has changed since the last call. @throws the first error, when all else has been done */
  async follow(signal: AbortSignal): Promise<void> {
    const { failed } = await this.#desired.follow({ engine: this.#engine, signal });
    for (const error of failed.values()) throw error as Error;
  }

  /**
   * Holds all of it against what is in the database, and puts that right.
   * @param keepLeftovers rows that no scope wants stay: not all objects could be read
   * @throws PodwireError when it could not be done
   */
  async reconcile(keepLeftovers: boolean, signal: AbortSignal): Promise<readonly Change[]> {
    await this.#desired.plan(signal);
    // A subnet with a fault has what it had before, and a process that has just started does not know that.
    const isPartial = keepLeftovers || this.problems.length > 0;
    const changes = await this.#desired.reconcile({ engine: this.#engine, signal, keepLeftovers: isPartial });
    const failed = changes.find(({ error }) => error !== undefined);
    if (failed !== undefined) throw failed.error as Error;
    return changes;
  }

  /** Differences from the database, by scope; scopes without any are not in it. Changes nothing. */
  async findDrift(signal: AbortSignal): Promise<Map<string, string[]>> {
    await this.#desired.plan(signal);
    const found = new Map<string, string[]>();
    for (const owned of this.#desired.owned()) {
      const drift = await this.#engine.verify(owned, { signal });
      if (drift.length > 0)
        found.set(
          owned.owner,
          drift.map(({ detail }) => detail),
        );
    }
    return found;
  }

  close(): Promise<void> {
    for (const changes of this.#changes) changes.close();
    return this.#engine.close();
  }
}

function listChanged(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  const gone = [...before.keys()].filter((name) => !after.has(name));
  const other = [...after].filter(([name, fact]) => !isEqual(before.get(name), fact));
  return [...gone, ...other.map(([name]) => name)];
}
