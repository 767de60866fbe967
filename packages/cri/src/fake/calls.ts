/** The rules for every call before the fake does anything: counting, latency, faults, deadline, validation. */
import { untilAborted } from '@podwire/platform';
import { CriError, isCriError } from '../error.js';
import { type MethodName, methods } from '../methods.js';
import type { CallOptions, CriRuntime } from '../services.js';
import { validateRequest } from '../validate/validate.js';
import type { FakeClock } from './context.js';
import { faultError, type Faults } from './faults.js';

export interface CallRules {
  readonly faults: Faults;
  readonly clock: FakeClock;
  readonly latency: (method: MethodName, request: unknown) => number;
  readonly onCall: (method: MethodName, request: unknown, options: CallOptions) => void;
}

/** Methods without the rules: they may answer at once, and always get options. */
export type AnswersOf<Names extends MethodName> = {
  readonly [Name in Names]: (
    request: Parameters<CriRuntime[Name]>[0],
    options: CallOptions,
  ) => ReturnType<CriRuntime[Name]> | Awaited<ReturnType<CriRuntime[Name]>>;
};

type UnaryName = Exclude<MethodName, 'getContainerEvents'>;
type Answer = (request: unknown, options: CallOptions) => unknown;
type Call = (request: unknown, options?: CallOptions) => Promise<unknown>;
type UnaryCalls = Pick<CriRuntime, UnaryName>;

export function withRules(answers: AnswersOf<UnaryName>, rules: CallRules): UnaryCalls {
  const entries = Object.entries(answers) as unknown as [MethodName, Answer][];
  return Object.fromEntries(
    entries.map(([method, act]) => [method, applyRules(method, act, rules)]),
  ) as unknown as UnaryCalls;
}

function applyRules(method: MethodName, act: Answer, rules: CallRules): Call {
  const { faults, onCall, latency } = rules;
  return async (request, options = {}) => {
    onCall(method, request, options);
    const fault = faults.next(method);
    const limited = limit(method, options, rules.clock);
    try {
      await limited.sleep(latency(method, request));
      if (fault?.how === 'hangs') await limited.sleep(undefined);
      if (fault?.how === 'refused') throw faultError(method, fault);
      validateRequest(method, request);
      const answer = await act(request, { ...options, signal: limited.signal });
      if (fault !== undefined) throw faultError(method, fault);
      return answer;
    } catch (error) {
      throw limited.explain(error);
    } finally {
      limited.end();
    }
  };
}

interface Limited {
  readonly signal: AbortSignal;
  /** Undefined: for ever. */
  sleep(milliseconds: number | undefined): Promise<void>;
  explain(error: unknown): CriError;
  end(): void;
}

/** The deadline and the signal of a call in one. Without a stated deadline there is none: nothing here takes long by itself. */
function limit(method: MethodName, { signal, timeoutMs }: CallOptions, clock: FakeClock): Limited {
  const own = new AbortController();
  const { rpc } = methods[method];
  const either = signal === undefined ? own.signal : AbortSignal.any([own.signal, signal]);
  const late = new CriError('DEADLINE_EXCEEDED', `${rpc}: not done within ${timeoutMs} ms`);
  if (timeoutMs !== undefined)
    clock.sleep(timeoutMs, either).then(
      () => own.abort(late),
      () => {}, // done before
    );
  return {
    signal: either,
    sleep: async (milliseconds) => {
      either.throwIfAborted();
      if (milliseconds === undefined) await untilAborted(either);
      else if (milliseconds > 0) await clock.sleep(milliseconds, either);
      either.throwIfAborted();
    },
    explain: (error) => {
      if (own.signal.reason === late) return late;
      if (signal?.aborted === true)
        return new CriError('CANCELLED', `${rpc}: the caller has given up`, { cause: signal.reason });
      return isCriError(error)
        ? error
        : new CriError('UNKNOWN', `${rpc}: ${String(error)}`, { cause: error });
    },
    end: () => own.abort(),
  };
}
