/** Follows the source of objects and turns what changes into inputs. An object that becomes unreadable stays as it was. */
import {
  type ObjectBatch,
  type ObjectReference,
  referenceKey,
  referenceOf,
  type Revision,
  type StoredObject,
  type UnreadableObject,
} from '@podwire/objects';
import type { InputChange } from '@podwire/policy';
import type { ObjectTranslator, PolicyProblem } from '../parts.js';

export interface ObjectInputs {
  readonly inputs: readonly InputChange[];
  readonly revision: Revision;
}

interface Known {
  readonly reference: ObjectReference;
  /** It could be read once, so what it said then stays when it cannot be read any more. */
  readonly isGood: boolean;
}

export class ObjectFollower {
  readonly #translator: ObjectTranslator;
  readonly #known = new Map<string, Known>();
  readonly #problems = new Map<string, PolicyProblem>();
  /** Why objects that can be read are not in force as they are written. */
  readonly #shortfalls = new Map<string, PolicyProblem>();
  #count = 0;

  constructor(translator: ObjectTranslator) {
    this.#translator = translator;
  }

  /** Objects that are not in force as they are written. */
  get problems(): readonly PolicyProblem[] {
    return [...new Map([...this.#shortfalls, ...this.#problems]).values()];
  }

  get count(): number {
    return this.#count;
  }

  take(batch: ObjectBatch): ObjectInputs {
    const inputs = batch.type === 'snapshot' ? this.#takeSnapshot(batch) : this.#takeChanges(batch);
    this.#count = this.#known.size;
    return { inputs, revision: batch.revision };
  }

  #takeSnapshot({ objects, unreadable }: ObjectBatch & { readonly type: 'snapshot' }): InputChange[] {
    const references = [
      ...objects.map(({ object }) => referenceOf(object)),
      ...unreadable.map(({ reference }) => reference),
    ];
    const present = new Set(references.map(referenceKey));
    const gone = [...this.#known].filter(([key]) => !present.has(key));
    return [
      ...gone.flatMap(([, { reference }]) => this.#remove(reference)),
      ...objects.flatMap((stored) => this.#put(stored)),
      ...unreadable.flatMap((each) => this.#note(each)),
    ];
  }

  #takeChanges({ changes }: ObjectBatch & { readonly type: 'changes' }): InputChange[] {
    return changes.flatMap((change) => {
      if (change.type === 'put') return this.#put(change.stored);
      if (change.type === 'unreadable') return this.#note(change.unreadable);
      return this.#remove(change.reference);
    });
  }

  #put(stored: StoredObject): readonly InputChange[] {
    const reference = referenceOf(stored.object);
    const key = referenceKey(reference);
    this.#known.set(key, { reference, isGood: true });
    this.#problems.delete(key);
    const inputs = this.#translator.put(stored);
    const own = inputs.filter((input) => input.topic !== 'policy' || input.key === key);
    const message = own.map(shortfallOf).find((each) => each !== undefined);
    this.#noteShortfall(key, message);
    return this.#follow(key, inputs);
  }

  #note(unreadable: UnreadableObject): readonly InputChange[] {
    const key = referenceKey(unreadable.reference);
    const isGood = this.#known.get(key)?.isGood === true;
    const effect = isGood ? 'what was there before stays in force' : 'it closes what it selects';
    this.#problems.set(key, { object: key, message: `${describe(unreadable)}; ${effect}` });
    if (isGood) return [];
    this.#known.set(key, { reference: unreadable.reference, isGood: false });
    return this.#follow(key, this.#translator.unreadable(unreadable));
  }

  #remove(reference: ObjectReference): readonly InputChange[] {
    const key = referenceKey(reference);
    this.#problems.delete(key);
    this.#shortfalls.delete(key);
    return this.#known.delete(key) ? this.#follow(key, this.#translator.delete(reference)) : [];
  }

  /** Policies that mean something else because of the object that has changed. */
  #follow(changed: string, inputs: readonly InputChange[]): readonly InputChange[] {
    for (const input of inputs) {
      if (input.topic !== 'policy' || input.key === changed) continue;
      this.#noteShortfall(input.key, shortfallOf(input));
    }
    return inputs;
  }

  #noteShortfall(object: string, message: string | undefined): void {
    if (message === undefined) this.#shortfalls.delete(object);
    else this.#shortfalls.set(object, { object, message });
  }
}

/** Why an object is not in force as it is written. */
function shortfallOf(input: InputChange): string | undefined {
  if (input.topic !== 'policy' || input.value === undefined) return undefined;
  const { broken } = input.value;
  return broken === undefined ? undefined : `${broken}; it closes what it selects`;
}

function describe({ problems }: UnreadableObject): string {
  const [first, ...others] = problems;
  if (first === undefined) return 'it cannot be read';
  const { file, line, field, message } = first;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `${file}:${line}: ${field === undefined ? '' : `${field}: `}${message}${more}`;
}
