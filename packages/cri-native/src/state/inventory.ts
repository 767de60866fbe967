/** The sandboxes and containers in memory: their records, and the processes that keep them alive. */
import { CriError } from '@podwire/cri';
import type { ControlConnection } from '../native/control.js';
import type { HeldState, ProcessName } from '../native/state-file.js';
import type { ContainerRecord, Phase, SandboxRecord } from './record.js';

/** A pause process or shim that is alive. */
export interface LiveProcess {
  readonly connection: ControlConnection;
  /** The pause process itself, or the container's program. */
  readonly process: ProcessName;
}

export interface SandboxEntry {
  readonly record: SandboxRecord;
  phase: Phase;
  /** Absent when it is dead. */
  pause: LiveProcess | undefined;
  addresses: readonly string[];
}

export interface ContainerEntry {
  readonly record: ContainerRecord;
  /** Absent when it was not started yet, or has ended. */
  shim: LiveProcess | undefined;
  /** The state of its program; absent when it was not started. */
  state: HeldState | undefined;
  /** While StartContainer runs, and after: it is not started twice. */
  starting: Promise<void> | undefined;
  /** Resolves when it has ended and `state` says how. */
  ended: Promise<void> | undefined;
}

export interface Inventory {
  readonly sandboxes: Map<string, SandboxEntry>;
  readonly containers: Map<string, ContainerEntry>;
}

export const createInventory = (): Inventory => ({ sandboxes: new Map(), containers: new Map() });

/** An entry by its id or the only one whose id begins so. */
function find<T>(entries: ReadonlyMap<string, T>, id: string): T | undefined {
  const exact = entries.get(id);
  if (exact !== undefined || id === '') return exact;
  const keys = [...entries.keys()].filter((key) => key.startsWith(id));
  return keys.length === 1 ? entries.get(keys[0] as string) : undefined;
}

/** Undefined also for one that is only being created: until RunPodSandbox is done there is none. */
export function findSandbox({ sandboxes }: Inventory, id: string): SandboxEntry | undefined {
  const entry = find(sandboxes, id);
  return entry?.phase === 'creating' ? undefined : entry;
}

export const findContainer = ({ containers }: Inventory, id: string): ContainerEntry | undefined =>
  find(containers, id);

/** @throws CriError NOT_FOUND */
export function needSandbox(inventory: Inventory, id: string): SandboxEntry {
  const entry = findSandbox(inventory, id);
  if (entry === undefined) throw new CriError('NOT_FOUND', `there is no sandbox ${id}`);
  return entry;
}

/** @throws CriError NOT_FOUND */
export function needContainer(inventory: Inventory, id: string): ContainerEntry {
  const entry = findContainer(inventory, id);
  if (entry === undefined) throw new CriError('NOT_FOUND', `there is no container ${id}`);
  return entry;
}

/** @throws CriError NOT_FOUND, FAILED_PRECONDITION */
export function needRunning(
  inventory: Inventory,
  id: string,
): ContainerEntry & { readonly shim: LiveProcess } {
  const entry = needContainer(inventory, id);
  if (entry.shim === undefined)
    throw new CriError('FAILED_PRECONDITION', `container ${entry.record.id} is not running`);
  return entry as ContainerEntry & { readonly shim: LiveProcess };
}

export const containersOf = ({ containers }: Inventory, sandboxId: string): ContainerEntry[] =>
  [...containers.values()].filter((entry) => entry.record.sandboxId === sandboxId);

export const isReady = (entry: SandboxEntry): boolean => entry.phase === 'ready' && entry.pause !== undefined;
