/** Values that are read and written one by one, in the namespace that they are of. */
import type {
  AnyResource,
  Batch,
  Failure,
  Observed,
  Owned,
  Repair,
  Resource,
  Session,
} from '@podwire/engine';
import type { Kernel, KernelNamespace, PodNamespace, PodNamespaces } from './kernel.js';
import { observeEach } from './kinds.js';

interface ValueResource extends AnyResource {
  readonly in: string;
}

type OpenPlace = () => KernelNamespace;

/** Both throw SystemError. */
export interface ValueAccess<R extends ValueResource> {
  /** The value that the resource's kind compares it with. */
  read(resource: R, open: OpenPlace): unknown;
  write(resource: R, open: OpenPlace): void;
}

export interface ValueParts {
  readonly kernel: Kernel;
  readonly pods: PodNamespaces;
  readonly owned: Owned;
}

/** Values are not set back: others may have come to rely on them. */
export class ValueSession<R extends ValueResource> implements Session {
  readonly #kernel: Kernel;
  readonly #owned: Owned;
  readonly #pods: PodNamespaces;
  readonly #pod: PodNamespace;
  readonly #access: ValueAccess<R>;

  constructor({ kernel, pods, owned }: ValueParts, access: ValueAccess<R>) {
    this.#kernel = kernel;
    this.#owned = owned;
    this.#pods = pods;
    this.#pod = pods.acquire(owned);
    this.#access = access;
  }

  async reaches(place: string): Promise<boolean> {
    return Promise.resolve(place !== 'pod' || this.#pod.isThere());
  }

  #namespace(place: string): KernelNamespace {
    return place === 'pod' ? this.#pod.open() : this.#kernel.host;
  }

  /** In their order, and none behind one that was refused: it may be there for what the next one does. */
  async create({ place, resources }: Pick<Batch, 'place' | 'resources'>): Promise<Failure[]> {
    for (const [index, resource] of resources.entries()) {
      try {
        this.#access.write(resource as unknown as R, () => this.#namespace(place));
      } catch (error) {
        return Promise.resolve(resources.slice(index).map((left) => ({ resource: left, error })));
      }
    }
    return Promise.resolve([]);
  }

  async repair(batch: Batch, repairs: readonly Repair[]): Promise<Failure[]> {
    return this.create({ place: batch.place, resources: repairs.map(({ resource }) => resource) });
  }

  async remove(): Promise<Failure[]> {
    return Promise.resolve([]);
  }

  async observe(resources: readonly Resource[]): Promise<Observed> {
    const observed = observeEach(resources as unknown as readonly R[], (resource) =>
      this.#access.read(resource, () => this.#namespace(resource.in)),
    );
    return Promise.resolve(observed);
  }

  close(): void {
    this.#pods.release(this.#owned);
  }
}
