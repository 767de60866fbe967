/** Authentication: user and password are exchanged for a token, which every call carries and which expires. */
import { Metadata } from '@grpc/grpc-js';

/** The credentials of one call. */
export interface Pass {
  readonly metadata: Metadata;
}

export class Tokens {
  readonly #logIn: (() => Promise<string | undefined>) | undefined;
  #current: Promise<Pass> | undefined;

  /** @param logIn gives a token, or undefined where none is needed; absent without a user */
  constructor(logIn: (() => Promise<string | undefined>) | undefined) {
    this.#logIn = logIn;
  }

  get canRenew(): boolean {
    return this.#logIn !== undefined;
  }

  /** Calls that come at the same time share one login: each costs the server a tenth of a second. */
  async pass(): Promise<Pass> {
    const current = (this.#current ??= this.#begin());
    try {
      return await current;
    } catch (error) {
      this.#forget(current);
      throw error;
    }
  }

  /** This one was refused: unless there is a newer one, the next call gets one. */
  async renew(refused: Pass): Promise<void> {
    const current = this.#current;
    const held = await current?.catch(() => undefined);
    if (held === refused) this.#forget(current);
  }

  #forget(pass: Promise<Pass> | undefined): void {
    if (this.#current === pass) this.#current = undefined;
  }

  async #begin(): Promise<Pass> {
    const token = await this.#logIn?.();
    const metadata = new Metadata();
    // A member without a leader says so at once, instead of letting calls wait and watches be silent.
    metadata.set('hasleader', 'true');
    if (token !== undefined) metadata.set('token', token);
    return { metadata };
  }
}
