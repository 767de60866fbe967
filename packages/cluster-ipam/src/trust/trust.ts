/** Whether the node may hand out: the store must have known it, and its blocks, not too long ago. */
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';

/** A moment by both clocks. Suspended machines stop the one, people and NTP move the other. */
export interface Moment {
  readonly wall: number;
  readonly elapsed: number;
}

export const momentOf = (clock: Clock): Moment => ({ wall: clock.now(), elapsed: clock.elapsed() });

/** Milliseconds that a wall clock may be set back while the agent is down without making its file worthless. */
const stepBack = 60_000;

export class Trust {
  readonly #clock: Clock;
  readonly #fenceAfter: number;
  #confirmed: Moment | undefined;
  #taken: string | undefined;
  #limit: number;

  constructor(clock: Clock, fenceAfter: number) {
    this.#clock = clock;
    this.#fenceAfter = fenceAfter;
    this.#limit = fenceAfter;
  }

  /** Milliseconds without confirmation after which nothing is handed out. */
  get limit(): number {
    return this.#limit;
  }

  /** Milliseconds since the epoch; 0: never. */
  get confirmedAt(): number {
    return this.#confirmed?.wall ?? 0;
  }

  /** @param asked when the question was sent: what came back was so at some time after that */
  confirm(asked: Moment): void {
    this.#taken = undefined;
    this.#limit = this.#fenceAfter;
    if (this.#confirmed !== undefined && asked.elapsed < this.#confirmed.elapsed) return;
    this.#confirmed = asked;
  }

  /**
   * What an earlier life has known, by the wall clock alone.
   * @param promised what it counted on: until the store has heard of more, others count on that as well
   */
  resume(confirmedAt: number, promised = this.#fenceAfter): void {
    this.#limit = Math.min(this.#fenceAfter, promised);
    const { wall, elapsed } = momentOf(this.#clock);
    if (wall < confirmedAt - stepBack) return;
    this.#confirmed = { wall: confirmedAt, elapsed: elapsed - Math.max(0, wall - confirmedAt) };
  }

  /** The name is another agent's. */
  lose(instance: string): void {
    this.#taken = instance;
  }

  get isFenced(): boolean {
    return this.#taken !== undefined || this.age > this.#limit;
  }

  /** Milliseconds, by the clock that says more. */
  get age(): number {
    if (this.#confirmed === undefined) return Infinity;
    const { wall, elapsed } = momentOf(this.#clock);
    return Math.max(wall - this.#confirmed.wall, elapsed - this.#confirmed.elapsed);
  }

  /** @throws PodwireError NODE_FENCED */
  require(): void {
    if (this.#taken !== undefined) {
      throw new PodwireError(
        'NODE_FENCED',
        `the node's name belongs to another agent (instance ${this.#taken})`,
        {
          details: { instance: this.#taken },
        },
      );
    }
    if (this.age <= this.#limit) return;
    const since = this.#confirmed === undefined ? 'yet' : `for ${Math.round(this.age / 1000)} s`;
    throw new PodwireError('NODE_FENCED', `the store has not confirmed this node ${since}`, {
      details: { confirmedAt: this.confirmedAt, fenceAfter: this.#limit },
    });
  }
}
