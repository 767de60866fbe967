/** A kernel with room for one thing at each key, and an engine on it that can fail. */
import type {} from '@podwire/backend-linux/resources';
import type { CallOptions, ChangeSet, Engine, Resource } from '@podwire/engine';
import { applyChanges, type ApplyOutcome, type Change, type Planner } from '@podwire/planner';
import { silentLog } from '@podwire/platform';

export function keyOf(resource: Resource): string {
  if (resource.kind === 'route') return `route ${resource.destination}`;
  if (resource.kind === 'nft-element') return `element ${resource.set} ${String(resource.key[0]?.value)}`;
  return JSON.stringify(resource);
}

/** The end of the next call: carried out, refused as a whole, or given up half way with half of it done. */
export type Fate = 'done' | 'refused' | 'aborted';

export class ModelKernel {
  readonly present = new Map<string, Resource>();
  /** Of the calls to come; `done` when it is empty. */
  fates: Fate[] = [];
  calls = 0;
  readonly #controllers = new WeakMap<AbortSignal, AbortController>();

  readonly engine: Pick<Engine, 'change'> = {
    change: async (_owner, change, options) => this.#change(change, options),
  };

  /** Carries changes out; all that the planner has when there is no list. */
  async apply(
    planner: Planner<Resource>,
    changes: readonly Change<Resource>[] = planner.difference(),
  ): Promise<ApplyOutcome> {
    const controller = new AbortController();
    this.#controllers.set(controller.signal, controller);
    return applyChanges(planner, changes, {
      engine: this.engine,
      signal: controller.signal,
      log: silentLog,
      ownerOf: (scope) => scope.replace('/', ':'),
    });
  }

  async #change({ remove = [], add = [] }: ChangeSet, { signal }: CallOptions): Promise<void> {
    await Promise.resolve();
    signal.throwIfAborted();
    this.calls += 1;
    const fate = this.fates.shift() ?? 'done';
    const work = [
      ...remove.map((one) => () => void this.present.delete(keyOf(one))),
      ...add.map((one) => () => this.#add(one)),
    ];
    if (fate === 'aborted') {
      for (const step of work.slice(0, work.length >> 1)) step();
      this.#controllers.get(signal)!.abort(new Error('aborted'));
      signal.throwIfAborted();
    }
    const before = new Map(this.present);
    try {
      for (const step of work) step();
      // A removal alone that is refused is left to a reconcile, which is not part of this model.
      if (fate === 'refused' && add.length > 0) throw new Error('refused');
    } catch (error) {
      this.present.clear();
      for (const [key, one] of before) this.present.set(key, one);
      throw error;
    }
  }

  #add(resource: Resource): void {
    const there = this.present.get(keyOf(resource));
    if (there !== undefined && JSON.stringify(there) !== JSON.stringify(resource))
      throw new Error(`EEXIST ${keyOf(resource)}`);
    this.present.set(keyOf(resource), resource);
  }
}
