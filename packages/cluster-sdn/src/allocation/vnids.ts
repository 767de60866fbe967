/** VNIDs of namespaces, and which are free. */
import { FreeNumbers } from '@podwire/ipam';
import { highestVnid } from '@podwire/objects';

/** Lower ones are given by hand only: 1 to namespaces of the control plane, 2 to 9 to none. */
export const lowestVnid = 10;

/** Which VNIDs namespaces have, counted: one that several have is free when the last of them has gone. */
export class Vnids {
  readonly #free: FreeNumbers;
  readonly #holders = new Map<number, number>();
  #cursor = lowestVnid;

  /** @param held VNIDs of namespaces, once for each namespace */
  constructor(held: Iterable<number>, cursor = lowestVnid, highest = highestVnid) {
    this.#free = new FreeNumbers(highest + 1);
    for (let vnid = 0; vnid < lowestVnid; vnid++) this.#free.take(vnid);
    for (const vnid of held) this.hold(vnid);
    this.#cursor = cursor;
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** How many namespaces have it. */
  count(vnid: number): number {
    return this.#holders.get(vnid) ?? 0;
  }

  /** The one to hand out next: the first free one from the cursor on, around the end. Undefined: none is free. */
  nextFree(): number | undefined {
    return this.#free.next(this.#cursor);
  }

  /** One more namespace has it. The search goes on behind one that was free. */
  hold(vnid: number): void {
    if (this.#free.isFree(vnid)) this.#cursor = vnid + 1;
    this.#free.take(vnid);
    this.#holders.set(vnid, this.count(vnid) + 1);
  }

  /** One namespace less has it. */
  release(vnid: number): void {
    const left = this.count(vnid) - 1;
    if (left > 0) this.#holders.set(vnid, left);
    else if (this.#holders.delete(vnid) && vnid >= lowestVnid) this.#free.giveBack(vnid);
  }
}
