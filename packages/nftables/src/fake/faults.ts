import os from 'node:os';
import { refusal } from '../errors.js';

/** A failure to come. */
export interface Fault {
  /** The method that is to fail, e.g. `change`. */
  readonly method: string;
  /** The errno's name. */
  readonly code: string;
  /** Only when this is said of what the call is about, in nft's words; always when absent. */
  readonly about?: (label: string) => boolean;
  /** How many calls fail; one when absent. */
  readonly times?: number;
  /** The call is carried out and fails nevertheless, as when its answer got lost. */
  readonly after?: boolean;
}

/** Faults that wait for their call. */
export class Faults {
  readonly #waiting: { readonly fault: Fault; left: number }[] = [];

  inject(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  /** Runs a call, unless a fault waits for it. @throws NftablesError */
  around<T>(method: string, label: string, call: () => T): T {
    const fault = this.#take(method, label);
    if (fault !== undefined && fault.after !== true) throw errorOf(fault, label);
    const result = call();
    if (fault !== undefined) throw errorOf(fault, label);
    return result;
  }

  #take(method: string, label: string): Fault | undefined {
    const found = this.#waiting.find(
      ({ fault, left }) => left > 0 && fault.method === method && (fault.about?.(label) ?? true),
    );
    if (found !== undefined) found.left--;
    return found?.fault;
  }
}

function errorOf({ code }: Fault, label: string): Error {
  const errno = os.constants.errno[code as keyof typeof os.constants.errno] ?? 0;
  return refusal(code, errno, label);
}
