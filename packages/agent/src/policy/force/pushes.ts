/** Changes on their way into the kernel, and which of them concern one pod alone. */
import type { LinkChange, PolicyLink } from '@podwire/network-policy';
import type { Revision } from '@podwire/objects';
import type { InputChange, PodFact } from '@podwire/policy';

export interface Push {
  readonly inputs?: readonly InputChange[] | undefined;
  readonly links?: readonly LinkChange[] | undefined;
  /** Objects up to this revision are among the inputs. */
  readonly revision?: Revision | undefined;
}

/** A push, and who waits for it. */
export interface Pending {
  readonly inputs: readonly InputChange[];
  readonly links: readonly LinkChange[];
  readonly revision: Revision | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The part of a push that can be taken back without harm to other pods: a pod that has come, with its links. */
export interface Arrival {
  readonly inputs: readonly InputChange[];
  readonly links: readonly LinkChange[];
}

type PodInput = Extract<InputChange, { readonly topic: 'pod' }>;

/** One of several changes, and what takes it back to how it was before. */
export interface Part {
  readonly arrival: Arrival;
  readonly inverse: Arrival;
}

export const joinArrivals = (all: readonly Arrival[]): Arrival => ({
  inputs: all.flatMap(({ inputs }) => inputs),
  links: all.flatMap(({ links }) => links),
});

/**
 * The pods that have come with each push.
 * @param before what was said of them before; it is brought up to date
 */
export function separate(batch: readonly Pending[], before: LastSaid): readonly (Part | undefined)[] {
  const arrivals = batch.map((push, index) => arrivalOf(push, batch.slice(index + 1)));
  return batch.map((push, index) => {
    const arrival = arrivals[index];
    const part = arrival && { arrival, inverse: before.inverseOf(arrival) };
    // An arrival that comes again with a later push is taken back with that push.
    const isAgain = arrivals.some((one, at) => at > index && one && isOvertaken(push, one));
    if (!isAgain) before.note(push);
    return part;
  });
}

/** The part of a push that only concerns a pod that has come. Undefined where there is none, or `later` has changed it again. */
function arrivalOf(push: Pending, later: readonly Pending[]): Arrival | undefined {
  const links = push.links.filter(({ value }) => value !== undefined);
  if (links.length === 0) return undefined;
  const pods = new Set(links.map(({ value }) => value?.endpoint));
  const inputs = push.inputs.filter((input) => input.topic === 'pod' && pods.has(input.key));
  return later.some((other) => touches(other, { inputs, links })) ? undefined : { inputs, links };
}

/** True if a push changes the pod, or one of its links. */
export function touches(push: Pending, { inputs, links }: Arrival): boolean {
  const pods = new Set(inputs.map(({ key }) => key));
  const names = new Set(links.map(({ link }) => link));
  return (
    push.inputs.some(({ topic, key }) => topic === 'pod' && pods.has(key)) ||
    push.links.some(({ link }) => names.has(link))
  );
}

/** True if the pod of a push has come again with another push: both succeed or fail together. */
export const isOvertaken = (push: Pending, by: Arrival): boolean =>
  push.links.some(({ value }) => value !== undefined) && touches(push, by);

/** The latest values of pods and links, so that an arrival can be taken back. */
export class LastSaid {
  readonly #pods = new Map<string, PodFact>();
  readonly #links = new Map<string, PolicyLink>();

  note({ inputs, links }: Arrival): void {
    for (const input of inputs) if (input.topic === 'pod') this.#notePod(input);
    for (const { link, value } of links)
      if (value === undefined) this.#links.delete(link);
      else this.#links.set(link, value);
  }

  /** A copy of what concerns the pods that come with these pushes. */
  before(batch: readonly Pending[]): LastSaid {
    const copy = new LastSaid();
    for (const { links } of batch)
      for (const { link, value } of links) {
        const known = this.#links.get(link);
        if (known !== undefined) copy.#links.set(link, known);
        const pod = value && this.#pods.get(value.endpoint);
        if (pod !== undefined) copy.#pods.set(value!.endpoint, pod);
      }
    return copy;
  }

  /** The change that undoes the arrival: it restores the current values. */
  inverseOf({ inputs, links }: Arrival): Arrival {
    return {
      inputs: inputs.map(({ key }) => ({ topic: 'pod', key, value: this.#pods.get(key) })),
      links: links.map(({ link }) => ({ link, value: this.#links.get(link) })),
    };
  }

  #notePod({ key, value }: PodInput): void {
    if (value === undefined) this.#pods.delete(key);
    else this.#pods.set(key, value);
  }
}
