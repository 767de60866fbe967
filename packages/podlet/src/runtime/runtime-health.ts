import type { CriRuntime, RuntimeCondition, RuntimeHandlerFeatures } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import type { Clock } from '../contract.js';
import { repeat } from '@podwire/platform';
import type { LoopSettings } from '../settings.js';

export interface RuntimeHealthOptions {
  readonly runtime: Pick<CriRuntime, 'status'>;
  readonly clock: Clock;
  readonly settings: LoopSettings;
  /** Called after every answer that differs from the one before. */
  readonly onChange: () => void;
}

const shortestRetryMs = 100;

/** Runtime health: nothing begins unless the runtime answers and is ready (specification §1.3). */
export class RuntimeHealth {
  readonly #options: RuntimeHealthOptions;
  #statusAt: number | undefined;
  #relistAt: number | undefined;
  #runtime: string | undefined;
  #network: string | undefined;
  #features: ReadonlyMap<string, RuntimeHandlerFeatures | undefined> = new Map();
  #retry = shortestRetryMs;

  constructor(options: RuntimeHealthOptions) {
    this.#options = options;
  }

  /** Why nothing new may begin. */
  problem(): string | undefined {
    const { clock, settings } = this.#options;
    const now = clock.elapsed();
    if (this.#statusAt === undefined) return this.#runtime ?? 'the runtime has not answered yet';
    if (now - this.#statusAt > settings.statusDeadMs)
      return this.#runtime ?? `the runtime has not answered for ${(now - this.#statusAt) / 1000} s`;
    if (this.#relistAt === undefined) return 'the runtime was not listed yet';
    if (now - this.#relistAt > settings.relistDeadMs)
      return `the latest listing is ${Math.round((now - this.#relistAt) / 1000)} s old`;
    return this.#runtime;
  }

  /** Why pods cannot get a network; the rest may go on. */
  networkProblem(): string | undefined {
    return this.#network;
  }

  /** Features of a runtime handler; the empty name is the default one. Undefined if the runtime does not report them. */
  features(handler: string): RuntimeHandlerFeatures | undefined {
    return this.#features.get(handler);
  }

  /** A listing has succeeded. */
  noteRelist(): void {
    this.#relistAt = this.#options.clock.elapsed();
  }

  run(signal: AbortSignal): Promise<void> {
    return repeat(
      this.#options.clock,
      () => this.#pause(),
      signal,
      async () => {
        const apply = await this.#ask(signal);
        // Only now: the gate closes by itself while an answer is waited for.
        const before = `${this.problem()}\n${this.#network}`;
        apply();
        if (`${this.problem()}\n${this.#network}` !== before) this.#options.onChange();
      },
    );
  }

  /** A node that is not in order is asked more often: pods wait for it. */
  #pause(): number {
    const { settings } = this.#options;
    const problem = this.problem();
    const isHealthy = problem === undefined && this.#network === undefined;
    this.#retry = isHealthy ? shortestRetryMs : Math.min(this.#retry * 2, settings.statusMs);
    if (isHealthy) return settings.statusMs;
    return problem === undefined ? Math.min(this.#retry, settings.networkRetryMs) : this.#retry;
  }

  /** A single answer that fails changes nothing until it has lasted (statusDeadMs). @returns what takes the answer over */
  async #ask(signal: AbortSignal): Promise<() => void> {
    const { runtime, clock, settings } = this.#options;
    const options = { signal, timeoutMs: settings.callTimeoutMs };
    try {
      const { status, runtimeHandlers } = await runtime.status({ verbose: false }, options);
      return () => {
        this.#statusAt = clock.elapsed();
        this.#runtime = problemOf(status?.conditions ?? [], 'RuntimeReady');
        this.#network = problemOf(status?.conditions ?? [], 'NetworkReady');
        this.#features = new Map(runtimeHandlers.map(({ name, features }) => [name, features]));
      };
    } catch (error) {
      const isDead = clock.elapsed() - (this.#statusAt ?? -Infinity) > settings.statusDeadMs;
      return () => {
        if (isDead) this.#runtime = `the runtime does not answer: ${describeError(error)}`;
      };
    }
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
