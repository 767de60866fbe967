/** Chooses the network: scans, watches and polls, and keeps the last good one. */
import type { NetworkConfig } from '@podwire/cni';
import type { Clock, Log } from '@podwire/platform';
import { type FileResult, type ScanResult, scanDirectory } from './scan.js';
import { takeSignature } from './signature.js';
import { type StartWatching, watchDirectory } from './watch.js';

export interface ChosenNetwork {
  readonly network: NetworkConfig;
  /** Its file is gone or broken since. */
  readonly kept: boolean;
}

export interface ChoiceOptions {
  readonly directory: string;
  readonly pinned?: string;
  readonly pluginPath: readonly string[];
  readonly validate: (network: NetworkConfig) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  readonly startWatching?: StartWatching;
  /** Milliseconds from the first event to the scan: files come in several steps. */
  readonly debounceMs: number;
  /** Called after each scan, which includes it. */
  readonly onScan: (chosen: ChosenNetwork | undefined) => Promise<void>;
}

export interface NetworkChooser {
  current(): ChosenNetwork | undefined;
  /** Why there is none, in words. */
  problem(): string;
  files(): readonly FileResult[];
  scannedAt(): number;
  /** A scan that begins after this call, whether or not anything seems to have changed. */
  scan(): Promise<void>;
  /** A scan if files or plugins are others than at the last one, or if that did not find all in order. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

export function createNetworkChooser(options: ChoiceOptions): NetworkChooser {
  const { clock, log, directory, pluginPath } = options;
  const abort = new AbortController();
  let chosen: ChosenNetwork | undefined;
  let result: ScanResult = {
    network: undefined,
    files: [],
    problem: 'the configuration was not looked at yet',
  };
  let signature: string | undefined;
  let scannedAt = 0;

  const scanOnce = async (): Promise<void> => {
    // Taken before the scan: a change during it makes the next poll scan again.
    signature = await takeSignature(directory, pluginPath);
    const next = await scanDirectory(options);
    scannedAt = clock.now();
    const before = chosen;
    if (next.network !== undefined) chosen = { network: next.network, kept: false };
    else if (chosen !== undefined) chosen = { network: chosen.network, kept: true };
    if (hasChanged(before, chosen) || result.problem !== next.problem) logChange(log, chosen, next);
    result = next;
    await options.onScan(chosen);
  };
  const scans = createSingleFlight(scanOnce);
  const poll = async (): Promise<void> => {
    watch.check();
    const idle = isSettled(chosen, result) && signature === (await takeSignature(directory, pluginPath));
    if (idle) scannedAt = clock.now();
    else await scans.run();
  };
  const onEvent = debounce(clock, options.debounceMs, abort.signal, () => poll());
  const watch = watchDirectory(directory, onEvent, options.startWatching);

  return {
    current: () => chosen,
    problem: () => result.problem,
    files: () => result.files,
    scannedAt: () => scannedAt,
    scan: () => scans.run(),
    poll,
    close: async () => {
      abort.abort();
      watch.close();
      await scans.settled();
    },
  };
}

/** A plugin that did not say its version may do so the next time, without any file being another one. */
function isSettled(chosen: ChosenNetwork | undefined, { files }: ScanResult): boolean {
  return chosen?.kept === false && !files.some(({ verdict }) => verdict === 'unusable');
}

function hasChanged(before: ChosenNetwork | undefined, after: ChosenNetwork | undefined): boolean {
  return (
    before?.kept !== after?.kept ||
    before?.network.file !== after?.network.file ||
    before?.network.source !== after?.network.source
  );
}

function logChange(log: Log, chosen: ChosenNetwork | undefined, { problem }: ScanResult): void {
  if (chosen === undefined) return log.warn({ problem }, 'no network for pods');
  const { name, file } = chosen.network;
  if (chosen.kept)
    log.warn({ network: name, file, problem }, 'the network is kept, its configuration is not there');
  else log.info({ network: name, file }, 'network for pods');
}

interface SingleFlight {
  /** Resolves after a run that began after this call. */
  run(): Promise<void>;
  settled(): Promise<void>;
}

/** One run at a time; all who ask while one is under way share the next. */
function createSingleFlight(work: () => Promise<void>): SingleFlight {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = work().finally(() => (running = undefined));
    return running;
  };
  const run = (): Promise<void> => {
    if (running === undefined) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
  return { run, settled: async () => void (await Promise.allSettled([running, next])) };
}

/** Runs once, some time after the first of several calls. */
function debounce(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  work: () => Promise<void>,
): () => void {
  let waiting = false;
  return () => {
    if (waiting || signal.aborted) return;
    waiting = true;
    clock.sleep(milliseconds, signal).then(
      () => {
        waiting = false;
        // A scan never fails; see scanDirectory.
        void work();
      },
      () => undefined,
    );
  };
}
