import {
  type Container,
  type ContainerStatus,
  type CriRuntime,
  isCriError,
  type PodSandbox,
  type PodSandboxStatus,
} from '@podwire/cri';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../lifecycle/observed.js';
import { type ContainerEnd, nodeLabel, type PodMarks, readEnd, readMarks, uidLabel } from './marks.js';
import { isReady, readContainer, readSandbox, stateOf } from './observe.js';
import { createPodTable, type PodTable } from './pod-table.js';
import { forEachLimited } from './semaphore.js';

/**
 * What the runtime has, as far as known. Each sandbox and container carries the number of the question that its
 * state is the answer to; an answer to an older question never replaces one to a newer, whoever asked.
 * So a worker that has just started a container is not set back by a listing that began before.
 */
export interface RuntimeView {
  observed(uid: string): ObservedPod;
  marks(uid: string): PodMarks | undefined;
  /** How a container ends, as written on it. */
  endOf(containerId: string): ContainerEnd | undefined;
  uids(): Iterable<string>;
  /** Asks for one thing anew. What the runtime does not know is forgotten. @throws CriError */
  refreshSandbox(id: string, signal: AbortSignal): Promise<void>;
  refreshContainer(id: string, sandboxId: string, signal: AbortSignal): Promise<void>;
  /** Lists one pod and asks for everything of it anew. @throws CriError */
  refreshPod(uid: string, signal: AbortSignal): Promise<void>;
  /** We have removed it. */
  forget(id: string): void;
  /** Lists everything, asks for what has changed. @returns whose pods have. @throws CriError when a listing fails */
  relist(signal: AbortSignal): Promise<Relisted>;
}

export interface Relisted {
  readonly changed: ReadonlySet<string>;
  /** Sandboxes that somebody else has removed: their network may still be there. */
  readonly vanished: readonly { readonly id: string; readonly uid: string }[];
}

export interface RuntimeViewOptions {
  readonly runtime: CriRuntime;
  /** Only what carries this node's label is ours. */
  readonly node: string;
  readonly concurrentStatus: number;
  /** Of each question. */
  readonly callTimeoutMs: number;
}

export function createRuntimeView(options: RuntimeViewOptions): RuntimeView {
  const table = createPodTable();
  const asking: Asking = { ...options, table };
  return {
    observed: (uid) => table.observed(uid),
    marks: (uid) => table.marks(uid),
    endOf: (id) => table.find(id)?.end,
    uids: () => table.uids(),
    refreshSandbox: (id, signal) => askSandbox(asking, id, signal),
    refreshContainer: (id, sandboxId, signal) => askContainer(asking, id, sandboxId, signal),
    refreshPod: (uid, signal) => refreshPod(asking, uid, signal),
    forget: (id) => {
      table.remove(id, table.question());
    },
    relist: (signal) => relist(asking, signal),
  };
}

interface Asking extends RuntimeViewOptions {
  readonly table: PodTable;
}

interface Listing {
  readonly question: number;
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

async function list(asking: Asking, uid: string | undefined, signal: AbortSignal): Promise<Listing> {
  const question = asking.table.question();
  const labelSelector = { [nodeLabel]: asking.node, ...(uid === undefined ? {} : { [uidLabel]: uid }) };
  const options = { signal, timeoutMs: asking.callTimeoutMs };
  const [sandboxes, containers] = await Promise.all([
    asking.runtime.listPodSandbox({ filter: { id: '', labelSelector } }, options),
    asking.runtime.listContainers({ filter: { id: '', podSandboxId: '', labelSelector } }, options),
  ]);
  return {
    question,
    sandboxes: sandboxes.items.filter((item) => isOurs(asking, item)),
    containers: containers.containers.filter((item) => isOurs(asking, item)),
  };
}

/** Events tell of everything in the runtime. */
function isOurs(
  { node }: RuntimeViewOptions,
  item: { readonly labels: Readonly<Record<string, string>> },
): boolean {
  return item.labels[nodeLabel] === node;
}

async function relist(asking: Asking, signal: AbortSignal): Promise<Relisted> {
  const listing = await list(asking, undefined, signal);
  const { table } = asking;
  const changed = new Set<string>();
  const asks = [
    ...listing.sandboxes
      .filter((sandbox) => table.mark(sandbox.id, listing.question)?.sandbox?.ready !== isReady(sandbox))
      .map((sandbox) => ({ uid: uidOf(sandbox), ask: () => askSandbox(asking, sandbox.id, signal) })),
    ...listing.containers
      .filter((one) => table.mark(one.id, listing.question)?.container?.state !== stateOf(one))
      .map((one) => ({
        uid: uidOf(one),
        ask: () => askContainer(asking, one.id, one.podSandboxId, signal),
      })),
  ];
  const vanished = sweep(table, listing.question, changed);
  await forEachLimited(asks, asking.concurrentStatus, async ({ uid, ask }) => {
    if (await answered(ask)) changed.add(uid);
  });
  return { changed, vanished };
}

/** One that cannot be asked keeps its old state, so that the next listing finds the change again. */
async function answered(ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch {
    return false;
  }
}

/** Forgets what the listing did not have, unless it is newer than the question. */
function sweep(table: PodTable, question: number, changed: Set<string>): { id: string; uid: string }[] {
  const gone = table.unmarked(question);
  for (const { id, uid } of gone) {
    table.remove(id, question);
    changed.add(uid);
  }
  return gone.filter((entry) => entry.sandbox !== undefined).map(({ id, uid }) => ({ id, uid }));
}

function uidOf(item: { readonly labels: Readonly<Record<string, string>> }): string {
  return item.labels[uidLabel] ?? '';
}

async function refreshPod(asking: Asking, uid: string, signal: AbortSignal): Promise<void> {
  const listing = await list(asking, uid, signal);
  const listed = new Set([...listing.sandboxes, ...listing.containers].map(({ id }) => id));
  asking.table.removeOthers(uid, listed, listing.question);
  await Promise.all([
    ...listing.sandboxes.map((sandbox) => askSandbox(asking, sandbox.id, signal)),
    ...listing.containers.map((one) => askContainer(asking, one.id, one.podSandboxId, signal)),
  ]);
}

async function askSandbox(asking: Asking, id: string, signal: AbortSignal): Promise<void> {
  const { table, runtime, callTimeoutMs: timeoutMs } = asking;
  const question = table.question();
  const status = await unlessGone(async () => {
    const answer = await runtime.podSandboxStatus(
      { podSandboxId: id, verbose: false },
      { signal, timeoutMs },
    );
    return answer.status;
  });
  if (status === undefined) table.remove(id, question);
  else if (isOurs(asking, status)) putSandbox(table, status, question);
}

function putSandbox(table: PodTable, status: PodSandboxStatus, question: number): void {
  const marks = readMarks(status.labels, status.annotations);
  const sandbox: ObservedSandbox = readSandbox(status);
  if (marks !== undefined) table.put({ id: sandbox.id, uid: marks.uid, sandbox }, marks, question);
}

async function askContainer(
  asking: Asking,
  id: string,
  sandboxId: string,
  signal: AbortSignal,
): Promise<void> {
  const { table, runtime, callTimeoutMs: timeoutMs } = asking;
  const question = table.question();
  const status = await unlessGone(async () => {
    const answer = await runtime.containerStatus({ containerId: id, verbose: false }, { signal, timeoutMs });
    return answer.status;
  });
  if (status === undefined) table.remove(id, question);
  else if (isOurs(asking, status)) putContainer(table, status, sandboxId, question);
}

function putContainer(table: PodTable, status: ContainerStatus, sandboxId: string, question: number): void {
  const marks = readMarks(status.labels, status.annotations);
  if (marks === undefined) return;
  const container: ObservedContainer = readContainer(status, sandboxId);
  const end = readEnd(status.labels, status.annotations);
  const entry = { id: container.id, uid: marks.uid, container, ...(end === undefined ? {} : { end }) };
  table.put(entry, marks, question);
}

async function unlessGone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
