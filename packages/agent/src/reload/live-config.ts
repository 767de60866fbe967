/** The configuration of a running agent: what it runs with, and what of the file waits for a restart. */
import { describeError } from '@podwire/errors';
import { Semaphore } from '@podwire/platform';
import type { AgentConfig, ConfigOrigin, NetworkConfig } from '../config/index.js';
import type { Log } from '../log.js';
import { type ConfigChange, findChanges } from './changes.js';
import { type CountPods, mergeConfig } from './merge.js';

/** View of the configuration in the API. */
export interface ConfigurationView {
  /** `null`: the agent was started without a file. */
  readonly file: string | null;
  /** SHA-256 of the text that was loaded last. */
  readonly hash: string | null;
  /** RFC 3339 */
  readonly loadedAt: string;
  /** Changes that the last reload has applied. */
  readonly applied: readonly string[];
  /** Changes in the file that the agent does not apply. */
  readonly waiting: readonly WaitingChange[];
  /** Why the file as it was at the last reload could not be used; the configuration before it stays. */
  readonly problem: string | null;
}

export interface WaitingChange {
  readonly path: string;
  readonly reason: string;
}

/** The parts of an agent that can be told other settings. */
export interface LiveParts {
  readonly countPods: CountPods;
  setLogLevel(level: AgentConfig['log']['level']): void;
  setTimes(times: { readonly interval: number; readonly deadline: number }): void;
  setTraces(capacity: number): void;
  /** @throws PodwireError CONFIG_INVALID, and nothing has changed */
  setNetwork(network: NetworkConfig): void;
  /** Undefined: nowhere. @throws PodwireError CONFIG_INVALID, and nothing has changed */
  moveMetrics(listen: AgentConfig['metrics']['listen']): Promise<void>;
  /** Follows what has changed of the networks. */
  networksChanged(): void;
}

export interface LiveConfigOptions {
  readonly config: AgentConfig;
  /** Absent: it was not loaded from anywhere. */
  readonly origin?: ConfigOrigin;
  readonly parts: LiveParts;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
}

const restart = 'needs a restart of the agent';

export class LiveConfig {
  readonly #options: LiveConfigOptions;
  readonly #reloads = new Semaphore(1);
  #running: AgentConfig;
  #origin: ConfigOrigin | undefined;
  #view: ConfigurationView;

  constructor(options: LiveConfigOptions) {
    this.#options = options;
    this.#running = options.config;
    this.#origin = options.origin;
    const { file, hash } = options.origin ?? {};
    this.#view = {
      file: file ?? null,
      hash: hash ?? null,
      loadedAt: this.#now(),
      applied: [],
      waiting: [],
      problem: null,
    };
  }

  /** Configuration in force. */
  get running(): AgentConfig {
    return this.#running;
  }

  view(): ConfigurationView {
    return this.#view;
  }

  /**
   * Reads the file again and applies what can be changed now. One reload waits for the other.
   * @throws PodwireError CONFIG_INVALID with line and column, and the configuration stays as it was
   */
  reload(): Promise<ConfigurationView> {
    return this.#reloads.run(() => this.#reload());
  }

  async #reload(): Promise<ConfigurationView> {
    const { log } = this.#options;
    try {
      const { config, origin } = this.#origin?.readAgain() ?? {
        config: this.#options.config,
        origin: undefined,
      };
      const before = this.#running;
      const reasons = await this.#apply(config);
      const applied = findChanges(before, this.#running);
      const waiting = findChanges(this.#running, config);
      this.#origin = origin;
      this.#view = {
        file: origin?.file ?? null,
        hash: origin?.hash ?? null,
        loadedAt: this.#now(),
        applied: applied.map(({ path }) => path),
        waiting: waiting.map((change) => ({ path: change.path, reason: this.#reasonOf(change, reasons) })),
        problem: null,
      };
      this.#logOutcome(applied);
      return this.#view;
    } catch (err) {
      this.#view = { ...this.#view, applied: [], problem: describeError(err) };
      log.error({ err }, 'the configuration could not be loaded; the one before stays');
      throw err;
    }
  }

  /** @returns what could not be applied after all, by the beginning of its path */
  async #apply(wanted: AgentConfig): Promise<ReadonlyMap<string, string>> {
    const { parts } = this.#options;
    const reasons = new Map<string, string>();
    const next = mergeConfig(this.#running, wanted, parts.countPods);
    const networks = next.networks.map((network, index) => {
      const before = this.#running.networks[index]!;
      if (findChanges(before, network).length === 0) return before;
      return this.#orBefore(`networks[${network.name}]`, reasons, () => parts.setNetwork(network))
        ? network
        : before;
    });
    const metrics = (await this.#moveMetrics(next, reasons)) ? next.metrics : this.#running.metrics;
    if (next.log.level !== this.#running.log.level) parts.setLogLevel(next.log.level);
    parts.setTimes({ interval: next.reconcileInterval, deadline: next.deadlines.reconcile });
    parts.setTraces(next.limits.traces);
    const networksChanged = findChanges(this.#running.networks, networks).length > 0;
    this.#running = { ...next, networks, metrics };
    if (networksChanged) parts.networksChanged();
    return reasons;
  }

  async #moveMetrics({ metrics }: AgentConfig, reasons: Map<string, string>): Promise<boolean> {
    if (findChanges(this.#running.metrics, metrics).length === 0) return true;
    try {
      await this.#options.parts.moveMetrics(metrics.listen);
      return true;
    } catch (error) {
      reasons.set('metrics', describeError(error));
      return false;
    }
  }

  #orBefore(path: string, reasons: Map<string, string>, change: () => void): boolean {
    try {
      change();
      return true;
    } catch (error) {
      reasons.set(path, describeError(error));
      return false;
    }
  }

  #reasonOf({ path, to }: ConfigChange, reasons: ReadonlyMap<string, string>): string {
    for (const [place, reason] of reasons) if (path.startsWith(place)) return reason;
    const [, network, pool] = /^networks\[(.*)\]\.pools\[(.*)\]$/.exec(path) ?? [];
    if (network === undefined || pool === undefined || to !== undefined) return restart;
    const pods = this.#options.parts.countPods(network, pool);
    if (pods === 0) return restart;
    return `${pods} ${pods === 1 ? 'pod has an address' : 'pods have addresses'} of it; reload again when they are gone`;
  }

  #logOutcome(applied: readonly ConfigChange[]): void {
    const { log } = this.#options;
    const { file, hash, waiting } = this.#view;
    for (const { path, from, to } of applied) log.info({ path, from, to }, 'setting changed');
    for (const { path, reason } of waiting) log.warn({ path, reason }, 'setting not changed');
    log.info({ file, hash, applied: applied.length, waiting: waiting.length }, 'configuration loaded');
  }

  #now(): string {
    return new Date(this.#options.clock()).toISOString();
  }
}
