/** Settings of its file that a running pod agent takes over, and those that need a restart (docs/decisions/0037). */
import { describeError } from '@podwire/errors';
import type { Log } from '@podwire/platform';
import type { ConfigurationView } from '../api/shapes.js';
import type { OptionFile, OptionValues } from './option-file.js';

/** Keys that can be changed while pods run. */
export const liveKeys = [
  'manifests',
  'url',
  'logLevel',
  'containerLogMaxSize',
  'containerLogMaxFiles',
] as const;
export type LiveKey = (typeof liveKeys)[number];

export interface LiveSettingsOptions {
  /** Absent: all is from the command line. */
  readonly initial: OptionFile | undefined;
  /** @throws PodwireError CONFIG_INVALID */
  readonly readAgain: () => OptionFile | undefined;
  /** Told all changed keys at once. @throws PodwireError CONFIG_INVALID, and nothing has changed */
  readonly apply: (before: OptionValues, after: OptionValues) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

export class LiveSettings {
  readonly #options: LiveSettingsOptions;
  #running: OptionValues;
  #view: ConfigurationView;

  constructor(options: LiveSettingsOptions) {
    this.#options = options;
    this.#running = options.initial?.values ?? {};
    this.#view = { ...this.#describe(options.initial), applied: [], waiting: [], problem: null };
  }

  view(): ConfigurationView {
    return this.#view;
  }

  /** @throws PodwireError CONFIG_INVALID, and everything stays as it was */
  reload(): ConfigurationView {
    const { log, readAgain, apply } = this.#options;
    try {
      const fresh = readAgain();
      const wanted = fresh?.values ?? {};
      const next = { ...this.#running };
      for (const key of liveKeys) {
        const value = wanted[key];
        if (value === undefined) delete next[key];
        else next[key] = value;
      }
      apply(this.#running, next);
      const applied = changedKeys(this.#running, next);
      this.#running = next;
      const waiting = changedKeys(next, wanted).map((path) => ({
        path,
        reason: 'needs a restart of the pod agent',
      }));
      this.#view = { ...this.#describe(fresh), applied, waiting, problem: null };
    } catch (err) {
      this.#view = { ...this.#view, applied: [], problem: describeError(err) };
      log.error({ err }, 'the configuration could not be loaded; the one before stays');
      throw err;
    }
    this.#logOutcome();
    return this.#view;
  }

  #describe(file: OptionFile | undefined): Pick<ConfigurationView, 'file' | 'hash' | 'loadedAt'> {
    const loadedAt = new Date(this.#options.now()).toISOString();
    return { file: file?.file ?? null, hash: file?.hash ?? null, loadedAt };
  }

  #logOutcome(): void {
    const { log } = this.#options;
    const { file, hash, applied, waiting } = this.#view;
    for (const path of applied) log.info({ path }, 'setting changed');
    for (const { path, reason } of waiting) log.warn({ path, reason }, 'setting not changed');
    log.info({ file, hash, applied: applied.length, waiting: waiting.length }, 'configuration loaded');
  }
}

function changedKeys(before: OptionValues, after: OptionValues): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}
