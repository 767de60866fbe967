import type { CriRuntime, RuntimeCondition, RuntimeHandlerFeatures } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import type { Clock } from '../contract.js';
import { repeat } from '@podwire/platform';
import type { LoopSettings } from '../settings.js';

/** Runtime health: nothing begins unless the runtime answers and is ready (specification §1.3). */
export interface RuntimeHealth {
  /** Why nothing new may begin. */
  problem(): string | undefined;
  /** Why pods cannot get a network; the rest may go on. */
  networkProblem(): string | undefined;
  /** Features of a runtime handler; the empty name is the default one. Undefined if the runtime does not report them. */
  features(handler: string): RuntimeHandlerFeatures | undefined;
  /** A listing has succeeded. */
  noteRelist(): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface RuntimeHealthOptions {
  readonly runtime: Pick<CriRuntime, 'status'>;
  readonly clock: Clock;
  readonly settings: LoopSettings;
  /** Called after every answer that differs from the one before. */
  readonly onChange: () => void;
}

interface Health {
  statusAt: number | undefined;
  relistAt: number | undefined;
  runtime: string | undefined;
  network: string | undefined;
  features: ReadonlyMap<string, RuntimeHandlerFeatures | undefined>;
}

const shortestRetryMs = 100;

export function createRuntimeHealth(options: RuntimeHealthOptions): RuntimeHealth {
  const { clock, settings } = options;
  const health: Health = {
    ...{ statusAt: undefined, relistAt: undefined, runtime: undefined, network: undefined },
    features: new Map(),
  };
  let retry = shortestRetryMs;
  const problem = () => findProblem(health, clock.elapsed(), settings);
  const pause = () => {
    // A node that is not in order is asked more often: pods wait for it.
    if (problem() === undefined && health.network === undefined) retry = shortestRetryMs;
    else retry = Math.min(retry * 2, settings.statusMs);
    if (problem() !== undefined) return retry;
    return health.network === undefined ? settings.statusMs : Math.min(retry, settings.networkRetryMs);
  };
  return {
    problem,
    networkProblem: () => health.network,
    features: (handler) => health.features.get(handler),
    noteRelist: () => {
      health.relistAt = clock.elapsed();
    },
    run: (signal) =>
      repeat(clock, pause, signal, async () => {
        const note = await ask(options, health, signal);
        // Only now: the gate closes by itself while an answer is waited for.
        const before = `${problem()}\n${health.network}`;
        note();
        if (`${problem()}\n${health.network}` !== before) options.onChange();
      }),
  };
}

function findProblem(health: Health, now: number, settings: LoopSettings): string | undefined {
  if (health.statusAt === undefined) return health.runtime ?? 'the runtime has not answered yet';
  if (now - health.statusAt > settings.statusDeadMs) {
    return health.runtime ?? `the runtime has not answered for ${(now - health.statusAt) / 1000} s`;
  }
  if (health.relistAt === undefined) return 'the runtime was not listed yet';
  if (now - health.relistAt > settings.relistDeadMs) {
    return `the latest listing is ${Math.round((now - health.relistAt) / 1000)} s old`;
  }
  return health.runtime;
}

/** A single answer that fails changes nothing until it has lasted (statusDeadMs). @returns takes the answer over */
async function ask(
  { runtime, clock, settings }: RuntimeHealthOptions,
  health: Health,
  signal: AbortSignal,
): Promise<() => void> {
  try {
    const { status, runtimeHandlers } = await runtime.status(
      { verbose: false },
      { signal, timeoutMs: settings.callTimeoutMs },
    );
    return () => {
      health.statusAt = clock.elapsed();
      health.runtime = problemOf(status?.conditions ?? [], 'RuntimeReady');
      health.network = problemOf(status?.conditions ?? [], 'NetworkReady');
      health.features = new Map(runtimeHandlers.map(({ name, features }) => [name, features]));
    };
  } catch (error) {
    const dead = health.statusAt === undefined || clock.elapsed() - health.statusAt > settings.statusDeadMs;
    return () => {
      if (dead) health.runtime = `the runtime does not answer: ${describeError(error)}`;
    };
  }
}

/** @returns what is wrong, in the runtime's words */
function problemOf(conditions: readonly RuntimeCondition[], type: string): string | undefined {
  const condition = conditions.find((one) => one.type === type);
  if (condition === undefined) return `the runtime does not report ${type}`;
  if (condition.status) return undefined;
  const words = [condition.reason, condition.message].filter((text) => text !== '');
  return words.length === 0 ? `${type} is false` : words.join(': ');
}
