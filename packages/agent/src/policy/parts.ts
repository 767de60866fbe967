import type { ObjectReference, StoredObject, UnreadableObject } from '@podwire/objects';
import type { InputChange } from '@podwire/policy';

/** Of the table's resources. */
export const policyOwner = 'policy';

/** Turns objects into what a compiler reads. It remembers what it was given. */
export interface ObjectTranslator {
  put(stored: StoredObject): readonly InputChange[];
  /** For one that never could be read: it closes what it would have selected, as far as that can be seen. */
  unreadable(unreadable: UnreadableObject): readonly InputChange[];
  delete(reference: ObjectReference): readonly InputChange[];
  /** Translates changes of pods into changes of the services that select them. */
  followPods(changes: readonly InputChange[]): readonly InputChange[];
}

/** An object that is not in force as it is written. */
export interface PolicyProblem {
  readonly object: string;
  readonly message: string;
}
