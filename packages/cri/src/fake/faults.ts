/** Calls that shall go wrong, and how often every method was called. */
import { CriError } from '../error.js';
import { type MethodName, methods } from '../methods.js';

export interface Fault {
  /** Which call of the method from now on, 1 being the next; absent: all of them. */
  readonly call?: number;
  /**
   * `refused`: nothing is done. `answer lost`: it is done, and the caller gets the error all the same, as when the
   * runtime or the connection dies after the work. `hangs`: nothing is done, and the call waits for its deadline or signal.
   */
  readonly how: 'refused' | 'answer lost' | 'hangs';
  /** UNAVAILABLE by default. */
  readonly error?: CriError;
}

export interface Faults {
  /** @returns what takes the fault back */
  readonly add: (method: MethodName, fault: Fault) => () => void;
  /** Counts a call. @returns what shall happen to it */
  next(method: MethodName): Fault | undefined;
  readonly counts: Readonly<Record<MethodName, number>>;
}

interface Planned extends Fault {
  /** Number of the call since the beginning. */
  readonly absolute: number | undefined;
}

export function createFaults(): Faults {
  const counts = Object.fromEntries(Object.keys(methods).map((name) => [name, 0])) as Record<
    MethodName,
    number
  >;
  const planned = new Map<MethodName, Set<Planned>>();
  return {
    counts,
    add: (method, fault) => {
      const absolute = fault.call === undefined ? undefined : counts[method] + fault.call;
      const plan = { ...fault, absolute };
      const plans = planned.get(method) ?? new Set();
      planned.set(method, plans.add(plan));
      return () => void plans.delete(plan);
    },
    next: (method) => {
      const number = (counts[method] += 1);
      const plans = [...(planned.get(method) ?? [])];
      return plans.find(({ absolute }) => absolute === undefined || absolute === number);
    },
  };
}

export const faultError = (method: MethodName, { error }: Fault): CriError =>
  error ?? new CriError('UNAVAILABLE', `${methods[method].rpc}: a fault that the test asked for`);
