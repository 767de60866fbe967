/** Up to which revision of the store all that follows from objects is in force on this node. */
import type { Revision } from '@podwire/store';

export class ObjectsInForce {
  readonly #listeners: (() => void)[] = [];
  #ofNode: Revision = 0;
  #ofPods: Revision = 0;

  /** The node, its peers and its pods follow one by one. */
  get revision(): Revision {
    return Math.min(this.#ofNode, this.#ofPods);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  noteNode(revision: Revision): void {
    this.#change(() => (this.#ofNode = revision));
  }

  notePods(revision: Revision): void {
    this.#change(() => (this.#ofPods = revision));
  }

  #change(note: () => void): void {
    const before = this.revision;
    note();
    if (this.revision !== before) for (const listener of this.#listeners) listener();
  }
}
