/** NetNamespaces: one for each namespace, with the VNID that it has or asks for. */
import type { PodwireError } from '@podwire/errors';
import { globalVnid, type NetNamespace, type StoredObject } from '@podwire/objects';
import type { Vnids } from '../allocation/vnids.js';
import type { Change, PlannedPart } from '../contract.js';
import { conflict, noVnid } from '../problems.js';
import { byName } from './names.js';
import { decideNetworkChange } from './network-change.js';

export interface NetNamespaceInputs {
  readonly netNamespaces: readonly StoredObject<NetNamespace>[];
  readonly namespaces: readonly string[];
  /** Names of NetNamespaces whose content cannot be read. */
  readonly unreadable: ReadonlySet<string>;
  /** Two namespaces may have one VNID, and VNIDs may change. */
  readonly isMultitenant: boolean;
}

/** @param vnids with what the NetNamespaces have; takes in what the plan does */
export function planNetNamespaces(inputs: NetNamespaceInputs, vnids: Vnids): PlannedPart {
  return new NetNamespacePlan(inputs, vnids).plan();
}

class NetNamespacePlan {
  readonly #inputs: NetNamespaceInputs;
  readonly #vnids: Vnids;
  readonly #stored: ReadonlyMap<string, StoredObject<NetNamespace>>;
  readonly #vnidOf = new Map<string, number>();
  readonly #changes: Change[] = [];
  readonly #problems: PodwireError[] = [];

  constructor(inputs: NetNamespaceInputs, vnids: Vnids) {
    this.#inputs = inputs;
    this.#vnids = vnids;
    this.#stored = byName(inputs.netNamespaces);
    for (const [name, { object }] of this.#stored) this.#vnidOf.set(name, object.netid);
  }

  /** Removals first, and changes last: a namespace may join one that is new. */
  plan(): PlannedPart {
    const wanted = new Set(['default', ...this.#inputs.namespaces].toSorted());
    for (const [name, before] of this.#stored) if (!wanted.has(name)) this.#remove(name, before);
    for (const name of wanted)
      if (!this.#stored.has(name) && !this.#inputs.unreadable.has(name)) this.#create(name);
    for (const [name, before] of this.#stored) if (wanted.has(name)) this.#renumber(name, before);
    if (!this.#inputs.isMultitenant) this.#reportShared();
    return { changes: this.#changes, problems: this.#problems };
  }

  #remove(name: string, before: StoredObject<NetNamespace>): void {
    this.#vnids.release(before.object.netid);
    this.#vnidOf.delete(name);
    this.#changes.push({ before, reason: 'its namespace is gone' });
  }

  #create(name: string): void {
    const netid = name === 'default' ? globalVnid : this.#vnids.nextFree();
    if (netid === undefined) {
      this.#problems.push(noVnid(name));
      return;
    }
    this.#vnids.hold(netid);
    this.#vnidOf.set(name, netid);
    this.#changes.push({ after: createNetNamespace(name, netid), reason: 'its namespace is new' });
  }

  #renumber(name: string, before: StoredObject<NetNamespace>): void {
    const view = { mayChange: this.#inputs.isMultitenant, vnids: this.#vnids, vnidOf: this.#vnidOf };
    const decision = decideNetworkChange(before.object, view);
    if (decision.act === 'nothing') return;
    if (decision.act === 'refuse') this.#problems.push(decision.error);
    const { netNamespace: after } = decision;
    if (after === undefined) return;
    this.#vnids.hold(after.netid);
    this.#vnids.release(before.object.netid);
    this.#vnidOf.set(name, after.netid);
    const isKept = after.netid === before.object.netid;
    const reason = isKept ? 'its network stays as it is' : `its VNID was ${before.object.netid}`;
    this.#changes.push({ before, after, reason });
  }

  /** With NetworkPolicy a VNID is what a namespace is known by: nodes of the original leave all but one of them out. */
  #reportShared(): void {
    const names = new Map<number, string[]>();
    for (const [name, vnid] of this.#vnidOf) {
      const sharing = names.get(vnid);
      if (sharing === undefined) names.set(vnid, [name]);
      else sharing.push(name);
    }
    for (const [vnid, [first, second, ...more]] of names)
      if (second !== undefined)
        this.#problems.push(conflict(describeShared(vnid, `${first}, ${second}`, more.length)));
  }
}

const describeShared = (vnid: number, names: string, more: number): string =>
  `several namespaces have the VNID ${vnid}: ${names}${more === 0 ? '' : ` and ${more} more`}`;

const createNetNamespace = (name: string, netid: number): NetNamespace => ({
  apiVersion: 'network.openshift.io/v1',
  kind: 'NetNamespace',
  metadata: { name },
  netname: name,
  netid,
  egressIPs: [],
});
