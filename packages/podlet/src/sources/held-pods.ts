/**
 * Pods that people have stopped or removed by name, whatever their manifests say. It stands between sources and the merge, so that
 * nothing behind it has to know, and an edited manifest changes nothing about it.
 */
import { localAnnotations, type Pod } from '@podwire/pod-spec';
import type { PodSource, PodView, Snapshot } from '../contract.js';
import { stoppedAnnotation } from '../lifecycle/stopped.js';

/** `stopped`: it is shown, and nothing of it runs. `removed`: as if its manifest did not have it. */
export type HoldKind = 'stopped' | 'removed';

export interface Hold {
  readonly kind: HoldKind;
  readonly namespace: string;
  readonly name: string;
  /** The file or URL of its manifest: a pod of the same name in another one is another pod. */
  readonly origin: string;
  /** RFC 3339. */
  readonly since: string;
}

type Named = Pick<PodView, 'namespace' | 'name' | 'origin'>;

const keyOf = ({ namespace, name, origin = '' }: Named): string => `${namespace}/${name} ${origin}`;

export class HeldPods {
  readonly #holds = new Map<string, Hold>();
  readonly #save: (holds: readonly Hold[]) => void;
  readonly #now: () => number;
  /** Emit anew what running sources said last. */
  readonly #repeats = new Set<() => void>();

  /** @param save is called after each change; what it throws, the change throws */
  constructor(initial: readonly Hold[], save: (holds: readonly Hold[]) => void, now: () => number) {
    for (const hold of initial) this.#holds.set(keyOf(hold), hold);
    this.#save = save;
    this.#now = now;
  }

  all(): readonly Hold[] {
    return [...this.#holds.values()];
  }

  kindOf(pod: Named): HoldKind | undefined {
    return this.#holds.get(keyOf(pod))?.kind;
  }

  /** @returns false when it is so already */
  hold(pod: Named, kind: HoldKind): boolean {
    if (this.kindOf(pod) === kind) return false;
    const { namespace, name, origin = '' } = pod;
    const since = new Date(this.#now()).toISOString();
    this.#holds.set(keyOf(pod), { kind, namespace, name, origin, since });
    this.#changed();
    return true;
  }

  /** They run again, where their manifests still have them. @returns those that were held */
  release(which: (hold: Hold) => boolean): readonly Hold[] {
    const released = this.all().filter(which);
    for (const hold of released) this.#holds.delete(keyOf(hold));
    if (released.length > 0) this.#changed();
    return released;
  }

  /** The source as the merge is to see it. */
  filter(source: PodSource): PodSource {
    return {
      name: source.name,
      run: async (emit, signal) => {
        let latest: Snapshot | undefined;
        const repeat = (): void => {
          if (latest !== undefined && !signal.aborted) emit(this.#apply(withoutCause(latest)));
        };
        this.#repeats.add(repeat);
        try {
          await source.run((snapshot) => {
            latest = snapshot;
            emit(this.#apply(snapshot));
          }, signal);
        } finally {
          this.#repeats.delete(repeat);
        }
      },
    };
  }

  /** Saved first: what is done must not be forgotten by a restart. */
  #changed(): void {
    this.#save(this.all());
    for (const repeat of this.#repeats) repeat();
  }

  #apply(snapshot: Snapshot): Snapshot {
    const removed = snapshot.pods.filter((pod) => this.#holdOf(pod)?.kind === 'removed');
    const pods = snapshot.pods
      .filter((pod) => !removed.includes(pod))
      .map((pod) => markStopped(pod, this.#holdOf(pod)?.since));
    const gone = removed.map(({ metadata }) => metadata.uid);
    if (snapshot.incomplete !== true || gone.length === 0) return { ...snapshot, pods };
    return { ...snapshot, pods, gone: [...(snapshot.gone ?? []), ...gone] };
  }

  #holdOf({ metadata }: Pod): Hold | undefined {
    const { namespace, name, annotations } = metadata;
    const origin = annotations[localAnnotations.origin] ?? '';
    return this.#holds.get(keyOf({ namespace, name, origin }));
  }
}

/** When its cause was is no news any more. */
function withoutCause({ causedAt: _, ...rest }: Snapshot): Snapshot {
  return rest;
}

/** The annotation is the agent's word: one of the manifest's own would stop a pod that `restart` does not know to be stopped. */
function markStopped(pod: Pod, since: string | undefined): Pod {
  if (since === undefined && pod.metadata.annotations[stoppedAnnotation] === undefined) return pod;
  const { [stoppedAnnotation]: _, ...others } = pod.metadata.annotations;
  const annotations = since === undefined ? others : { ...others, [stoppedAnnotation]: since };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
