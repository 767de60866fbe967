import { type CallOptions, CriError, type CriRuntime } from '@podwire/cri';
import type { Clock } from '../../src/contract.js';

export type How = 'refused' | 'answer lost' | 'hangs';

/** Faults on the way between one podlet and the runtime; the test itself still reaches the runtime. */
export interface Faulty {
  /** The call of this number from now on, 1 being the next. */
  plan(method: string, how: How, call: number): void;
  clear(): void;
  wrap(runtime: CriRuntime): CriRuntime;
}

interface Planned {
  readonly how: How;
  left: number;
}

export function createFaulty(clock: Clock): Faulty {
  const plans = new Map<string, Planned[]>();
  const next = (method: string): How | undefined => {
    const planned = plans.get(method) ?? [];
    for (const plan of planned) plan.left -= 1;
    return planned.find(({ left }) => left === 0)?.how;
  };
  return {
    plan: (method, how, call) => void plans.set(method, [...(plans.get(method) ?? []), { how, left: call }]),
    clear: () => plans.clear(),
    wrap: (runtime) =>
      new Proxy(runtime, {
        get: (inner, name) => {
          const member: unknown = Reflect.get(inner, name);
          if (typeof member !== 'function' || name === 'getContainerEvents') return member;
          return (request: unknown, options: CallOptions = {}) => {
            const call = () => Reflect.apply(member, inner, [request, options]) as Promise<unknown>;
            return disturb(clock, next(String(name)), call, options);
          };
        },
      }),
  };
}

async function disturb(
  clock: Clock,
  how: How | undefined,
  call: () => Promise<unknown>,
  { signal, timeoutMs }: CallOptions,
): Promise<unknown> {
  if (how === undefined) return call();
  if (how === 'answer lost') await call();
  if (how === 'hangs') await clock.sleep(timeoutMs ?? 120_000, signal ?? new AbortController().signal);
  throw new CriError(how === 'hangs' ? 'DEADLINE_EXCEEDED' : 'UNAVAILABLE', `${how}, as the test asked for`);
}
