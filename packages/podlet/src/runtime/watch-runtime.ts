import { ContainerEventType, type ContainerEventResponse, type CriRuntime, isCriError } from '@podwire/cri';
import type { Clock } from '../contract.js';
import { pause, repeat, Semaphore } from '@podwire/platform';
import type { PodletLog } from '../sync/sync-context.js';
import { uidLabel } from './labels.js';
import type { RuntimeView } from './runtime-view.js';
import type { LoopSettings } from '../settings.js';

export interface WatchOptions {
  readonly runtime: CriRuntime;
  readonly view: RuntimeView;
  readonly clock: Clock;
  readonly settings: LoopSettings;
  readonly log: PodletLog;
  /** A worker that acts itself asks for what it has done; events are its own echo then. */
  readonly isSyncing: (uid: string) => boolean;
  readonly onChange: (uid: string) => void;
  readonly onRelisted: () => void;
}

/** Keeps the view true: listings again and again, and events where the runtime has them (specification §1.5). */
export async function watchRuntime(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const events: Events = { flowing: false };
  const cleanups = createCleanups(options, signal);
  await Promise.all([
    relistPeriodically(options, events, cleanups, signal),
    followEvents(options, events, signal),
  ]);
  await cleanups.end();
}

interface Events {
  /** They come, so listings may be rarer. */
  flowing: boolean;
}

async function relistPeriodically(
  options: WatchOptions,
  events: Events,
  cleanups: Cleanups,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = options;
  let failed = false;
  const pause = () => (events.flowing && !failed ? settings.relistWithEventsMs : settings.relistMs);
  await repeat(options.clock, pause, signal, async () => {
    try {
      await relist(options, cleanups, signal);
      failed = false;
    } catch (error) {
      if (!failed && !signal.aborted) options.log.warn({ err: error }, 'could not list the runtime');
      failed = true;
    }
  });
}

async function relist(options: WatchOptions, cleanups: Cleanups, signal: AbortSignal): Promise<void> {
  const { changed, vanished } = await options.view.relist(signal);
  options.onRelisted();
  for (const uid of changed) options.onChange(uid);
  for (const { id } of vanished) cleanups.begin(id);
}

/** Sandboxes that are being cleared. Listings do not wait for it: a network that hangs on its way down is one pod's trouble. */
interface Cleanups {
  begin(podSandboxId: string): void;
  /** Resolves when all that was begun is over. */
  end(): Promise<void>;
}

function createCleanups(options: WatchOptions, signal: AbortSignal): Cleanups {
  const slots = new Semaphore(options.settings.concurrentStatus);
  const running = new Set<Promise<void>>();
  return {
    begin(podSandboxId) {
      const run = slots
        .run(() => cleanUpVanished(options, podSandboxId, signal), signal)
        .catch(() => undefined) // The podlet stops before its turn.
        .finally(() => running.delete(run));
      running.add(run);
    },
    async end() {
      await Promise.all(running);
    },
  };
}

/** A sandbox was removed by another client; its network must still be taken down. Both calls are idempotent. */
async function cleanUpVanished(
  { runtime, log, settings }: WatchOptions,
  podSandboxId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runtime.stopPodSandbox({ podSandboxId }, { signal, timeoutMs: settings.callTimeoutMs });
    await runtime.removePodSandbox({ podSandboxId }, { signal, timeoutMs: settings.callTimeoutMs });
  } catch (error) {
    if (!isCriError(error, 'NOT_FOUND') && !signal.aborted) {
      log.warn(
        { sandbox: podSandboxId, err: error },
        'could not clean up a sandbox that another client removed',
      );
    }
  }
}

async function followEvents(options: WatchOptions, events: Events, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of options.runtime.getContainerEvents({}, { signal })) {
        events.flowing = true;
        take(options, event, signal);
      }
    } catch (error) {
      if (isCriError(error, 'UNIMPLEMENTED')) return;
      if (!signal.aborted) options.log.debug({ err: error }, 'the event stream ended');
    } finally {
      events.flowing = false;
    }
    if (!(await pause(options.clock, options.settings.relistMs, signal))) return;
  }
}

function take(options: WatchOptions, event: ContainerEventResponse, signal: AbortSignal): void {
  const uid = uidOf(event);
  if (uid === undefined || options.isSyncing(uid) || isKnown(options.view, uid, event)) return;
  refresh(options, uid, event, signal).then(
    () => options.onChange(uid),
    () => undefined,
  );
}

function uidOf({ podSandboxStatus }: ContainerEventResponse): string | undefined {
  return podSandboxStatus?.labels[uidLabel] ?? podSandboxStatus?.metadata?.uid;
}

const stateAfter: Readonly<Record<number, string>> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'running',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'exited',
};

/** The echo of what a worker did before, most often. */
function isKnown(view: RuntimeView, uid: string, event: ContainerEventResponse): boolean {
  const { sandboxes, containers } = view.observed(uid);
  const known = containers.find(({ id }) => id === event.containerId);
  if (known !== undefined) return known.state === stateAfter[event.containerEventType];
  const sandbox = sandboxes.find(({ id }) => id === event.containerId);
  const starts = event.containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT;
  if (sandbox !== undefined) return sandbox.ready === starts;
  return event.containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT;
}

async function refresh(
  { view }: WatchOptions,
  uid: string,
  event: ContainerEventResponse,
  signal: AbortSignal,
): Promise<void> {
  const sandboxId = event.podSandboxStatus?.id ?? '';
  if (event.containerId === sandboxId) return view.refreshSandbox(sandboxId, signal);
  const known = view.observed(uid).containers.some(({ id }) => id === event.containerId);
  if (known || sandboxId !== '') return view.refreshContainer(event.containerId, sandboxId, signal);
  return view.refreshPod(uid, signal);
}
