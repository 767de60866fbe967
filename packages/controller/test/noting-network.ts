/** A logical network that only takes notes. */
import { annotationNames, type OvnFacts, type OvnPod } from '@podwire/cluster-ovn';
import { ovnPodKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject, type Store } from '@podwire/store';

/** Notes which pods it was to have, and those of them that the store had not. */
export class NotingNetwork {
  readonly problems: readonly unknown[] = [];
  readonly unwritten: string[] = [];
  readonly claims: string[] = [];
  /** By another controller. */
  isClaimed = false;
  hasDrift = false;
  /** Before a claim counts. */
  onClaim: () => Promise<void> = () => Promise.resolve();
  /** Ids of pods whose rows cannot be made. */
  readonly refused = new Set<string>();
  readonly #store: Store;
  #pods = new Map<string, OvnPod>();
  applied: readonly string[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  async claim(writer: string): Promise<void> {
    this.claims.push(writer);
    await this.onClaim();
    this.isClaimed = false;
  }

  isInPlace(id: string): boolean {
    return this.applied.includes(id) && !this.refused.has(id);
  }

  readDrift(): boolean {
    return this.hasDrift;
  }

  take({ pods }: OvnFacts): void {
    this.#pods = new Map(pods);
  }

  takePods(pods: ReadonlyMap<string, OvnPod | undefined>): void {
    for (const [id, pod] of pods)
      if (pod === undefined) this.#pods.delete(id);
      else this.#pods.set(id, pod);
  }

  async follow(): Promise<void> {
    if (this.isClaimed) throw new PodwireError('STORE_CONFLICT', 'another controller writes the database');
    const pods = [...this.#pods];
    for (const [id, { addresses }] of pods)
      if ((await findAnswer(this.#store, id)) !== addresses.join(',')) this.unwritten.push(id);
    this.applied = pods.map(([id]) => id).sort();
    if (this.refused.size > 0) throw new Error('not all rows could be made');
  }

  async reconcile(): Promise<readonly []> {
    await this.follow();
    return [];
  }
}

export async function findAnswer(store: Store, id: string): Promise<string | undefined> {
  const key = `/podwire/ovn-pods/${id}`;
  const { value } = (await store.get(key)) ?? {};
  return value && decodeObject(ovnPodKind, key, value).annotations[annotationNames.addresses];
}
