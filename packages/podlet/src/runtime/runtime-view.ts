import {
  type Container,
  type ContainerStatus,
  type CriRuntime,
  isCriError,
  type PodSandbox,
  type PodSandboxStatus,
} from '@podwire/cri';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../lifecycle/observed.js';
import { type ContainerEnd, nodeLabel, type PodLabels, readEnd, readPodLabels, uidLabel } from './labels.js';
import { isReady, readContainer, readSandbox, stateOf } from './observe.js';
import { createPodCache, type PodCache } from './pod-cache.js';
import { compact, forEachLimited } from '@podwire/platform';

/**
 * What the runtime has, as far as known. Each sandbox and container carries the number of the question that its
 * state is the answer to; an older response never replaces a newer one.
 * So a worker that has just started a container is not set back by a listing that began before.
 */
export interface RuntimeView {
  observed(uid: string): ObservedPod;
  labels(uid: string): PodLabels | undefined;
  /** How a container ends, as written on it. */
  endOf(containerId: string): ContainerEnd | undefined;
  uids(): Iterable<string>;
  /** Asks for one thing anew. What the runtime does not know is forgotten. @throws CriError */
  refreshSandbox(id: string, signal: AbortSignal): Promise<void>;
  refreshContainer(id: string, sandboxId: string, signal: AbortSignal): Promise<void>;
  /** Lists one pod and fetches for everything of it anew. @throws CriError */
  refreshPod(uid: string, signal: AbortSignal): Promise<void>;
  /** We have removed it. */
  forget(id: string): void;
  /** Lists everything, fetches for what has changed. @returns whose pods have. @throws CriError when a listing fails */
  relist(signal: AbortSignal): Promise<Relisted>;
}

export interface Relisted {
  readonly changed: ReadonlySet<string>;
  /** Sandboxes that another client has removed: their network may still be there. */
  readonly vanished: readonly { readonly id: string; readonly uid: string }[];
}

export interface RuntimeViewOptions {
  readonly runtime: CriRuntime;
  /** Only what carries this node's label is ours. */
  readonly node: string;
  readonly concurrentStatus: number;
  /** Of each sequence. */
  readonly callTimeoutMs: number;
}

export function createRuntimeView(options: RuntimeViewOptions): RuntimeView {
  const cache = createPodCache();
  const context: ViewContext = { ...options, cache };
  return {
    observed: (uid) => cache.observed(uid),
    labels: (uid) => cache.labels(uid),
    endOf: (id) => cache.find(id)?.end,
    uids: () => cache.uids(),
    refreshSandbox: (id, signal) => fetchSandbox(context, id, signal),
    refreshContainer: (id, sandboxId, signal) => fetchContainer(context, id, sandboxId, signal),
    refreshPod: (uid, signal) => refreshPod(context, uid, signal),
    forget: (id) => {
      cache.remove(id, cache.nextSequence());
    },
    relist: (signal) => relist(context, signal),
  };
}

interface ViewContext extends RuntimeViewOptions {
  readonly cache: PodCache;
}

interface Listing {
  readonly sequence: number;
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

async function list(context: ViewContext, uid: string | undefined, signal: AbortSignal): Promise<Listing> {
  const sequence = context.cache.nextSequence();
  const labelSelector = { [nodeLabel]: context.node, ...(uid === undefined ? {} : { [uidLabel]: uid }) };
  const options = { signal, timeoutMs: context.callTimeoutMs };
  const [sandboxes, containers] = await Promise.all([
    context.runtime.listPodSandbox({ filter: { id: '', labelSelector } }, options),
    context.runtime.listContainers({ filter: { id: '', podSandboxId: '', labelSelector } }, options),
  ]);
  return {
    sequence,
    sandboxes: sandboxes.items.filter((item) => isOurs(context, item)),
    containers: containers.containers.filter((item) => isOurs(context, item)),
  };
}

/** Events tell of everything in the runtime. */
function isOurs(
  { node }: RuntimeViewOptions,
  item: { readonly labels: Readonly<Record<string, string>> },
): boolean {
  return item.labels[nodeLabel] === node;
}

async function relist(context: ViewContext, signal: AbortSignal): Promise<Relisted> {
  const listing = await list(context, undefined, signal);
  const { cache } = context;
  const changed = new Set<string>();
  const fetches = [
    ...listing.sandboxes
      .filter((sandbox) => cache.mark(sandbox.id, listing.sequence)?.sandbox?.ready !== isReady(sandbox))
      .map((sandbox) => ({ uid: uidOf(sandbox), fetch: () => fetchSandbox(context, sandbox.id, signal) })),
    ...listing.containers
      .filter((one) => cache.mark(one.id, listing.sequence)?.container?.state !== stateOf(one))
      .map((one) => ({
        uid: uidOf(one),
        fetch: () => fetchContainer(context, one.id, one.podSandboxId, signal),
      })),
  ];
  const vanished = sweep(cache, listing.sequence, changed);
  await forEachLimited(fetches, context.concurrentStatus, async ({ uid, fetch }) => {
    if (await succeeds(fetch)) changed.add(uid);
  });
  return { changed, vanished };
}

/** One that cannot be asked keeps its old state, so that the next listing finds the change again. */
async function succeeds(fetch: () => Promise<void>): Promise<boolean> {
  try {
    await fetch();
    return true;
  } catch {
    return false;
  }
}

/** Forgets what the listing did not have, unless it is newer than the sequence. */
function sweep(cache: PodCache, sequence: number, changed: Set<string>): { id: string; uid: string }[] {
  const gone = cache.unmarked(sequence);
  for (const { id, uid } of gone) {
    cache.remove(id, sequence);
    changed.add(uid);
  }
  return gone.filter((entry) => entry.sandbox !== undefined).map(({ id, uid }) => ({ id, uid }));
}

function uidOf(item: { readonly labels: Readonly<Record<string, string>> }): string {
  return item.labels[uidLabel] ?? '';
}

async function refreshPod(context: ViewContext, uid: string, signal: AbortSignal): Promise<void> {
  const listing = await list(context, uid, signal);
  const listed = new Set([...listing.sandboxes, ...listing.containers].map(({ id }) => id));
  context.cache.removeOthers(uid, listed, listing.sequence);
  await Promise.all([
    ...listing.sandboxes.map((sandbox) => fetchSandbox(context, sandbox.id, signal)),
    ...listing.containers.map((one) => fetchContainer(context, one.id, one.podSandboxId, signal)),
  ]);
}

async function fetchSandbox(context: ViewContext, id: string, signal: AbortSignal): Promise<void> {
  const { cache, runtime, callTimeoutMs: timeoutMs } = context;
  const sequence = cache.nextSequence();
  const status = await unlessGone(async () => {
    const answer = await runtime.podSandboxStatus(
      { podSandboxId: id, verbose: false },
      { signal, timeoutMs },
    );
    return answer.status;
  });
  if (status === undefined) cache.remove(id, sequence);
  else if (isOurs(context, status)) putSandbox(cache, status, sequence);
}

function putSandbox(cache: PodCache, status: PodSandboxStatus, sequence: number): void {
  const labels = readPodLabels(status.labels, status.annotations);
  const sandbox: ObservedSandbox = readSandbox(status);
  if (labels !== undefined) cache.put({ id: sandbox.id, uid: labels.uid, sandbox }, labels, sequence);
}

async function fetchContainer(
  context: ViewContext,
  id: string,
  sandboxId: string,
  signal: AbortSignal,
): Promise<void> {
  const { cache, runtime, callTimeoutMs: timeoutMs } = context;
  const sequence = cache.nextSequence();
  const status = await unlessGone(async () => {
    const answer = await runtime.containerStatus({ containerId: id, verbose: false }, { signal, timeoutMs });
    return answer.status;
  });
  if (status === undefined) cache.remove(id, sequence);
  else if (isOurs(context, status)) putContainer(cache, status, sandboxId, sequence);
}

function putContainer(cache: PodCache, status: ContainerStatus, sandboxId: string, sequence: number): void {
  const labels = readPodLabels(status.labels, status.annotations);
  if (labels === undefined) return;
  const container: ObservedContainer = readContainer(status, sandboxId);
  const end = readEnd(status.labels, status.annotations);
  const entry = { id: container.id, uid: labels.uid, container, ...compact({ end }) };
  cache.put(entry, labels, sequence);
}

async function unlessGone<T>(fetch: () => Promise<T>): Promise<T | undefined> {
  try {
    return await fetch();
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
