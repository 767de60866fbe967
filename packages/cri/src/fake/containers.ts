import { nowNanoseconds } from '../node-facts.js';
import { CriError } from '../error.js';
import { matchesContainerFilter } from '../filters.js';
import {
  ContainerEventType,
  type ContainerMetadata,
  ContainerState,
  ContainerStatus,
  type CreateContainerRequest,
  PodSandboxState,
} from '../messages.js';
import type { AnswersOf } from './calls.js';
import { announce, type FakeContext } from './context.js';
import { findImage } from './images.js';
import { containerItem, type ContainerRecord, containersOf, getContainer, getSandbox } from './state.js';

type ContainerCalls = AnswersOf<
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'execSync'
>;

const killed = 137;

export function containerCalls(context: FakeContext): ContainerCalls {
  const { state } = context;
  return {
    createContainer: (request) => ({ containerId: create(context, request).id }),
    startContainer: ({ containerId }) => {
      startProgram(context, getContainer(state, containerId));
      return {};
    },
    stopContainer: async ({ containerId, timeout }, { signal }) => {
      const container = state.containers.get(containerId);
      if (container !== undefined) await stop(context, container, Number(timeout) * 1000, signal);
      return {};
    },
    removeContainer: ({ containerId }) => {
      const container = state.containers.get(containerId);
      if (container !== undefined) removeContainer(context, container);
      return {};
    },
    listContainers: ({ filter }) => {
      const items = [...state.containers.values()].map(({ item }) => item);
      return { containers: items.filter((item) => matchesContainerFilter(item, filter)) };
    },
    containerStatus: ({ containerId }) => ({
      status: getContainer(state, containerId).status,
      info: {},
    }),
    updateContainerResources: ({ containerId, linux }) => {
      change(getContainer(state, containerId), { resources: { linux } });
      return {};
    },
    reopenContainerLog: ({ containerId }) => {
      requireRunning(getContainer(state, containerId));
      return {};
    },
    execSync: async ({ containerId, cmd, timeout }, { signal }) => {
      const container = getContainer(state, containerId);
      requireRunning(container);
      const result = await within(context, Number(timeout) * 1000, signal, (each) =>
        context.exec(container.id, cmd, each),
      );
      return {
        stdout: Buffer.from(result.stdout ?? ''),
        stderr: Buffer.from(result.stderr ?? ''),
        exitCode: result.exitCode ?? 0,
      };
    },
  };
}

function create(context: FakeContext, { podSandboxId, config }: CreateContainerRequest): ContainerRecord {
  const { state } = context;
  const sandbox = getSandbox(state, podSandboxId);
  if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
  if (sandbox.state !== PodSandboxState.SANDBOX_READY)
    throw new CriError('FAILED_PRECONDITION', `sandbox ${sandbox.id} is not ready`);
  refuseTwin(containersOf(state, sandbox.id), config.metadata);
  const image = findImage(state, config.image?.image ?? '');
  const { metadata, labels, annotations, mounts, logPath } = config;
  const directory = sandbox.config.logDirectory;
  const status = ContainerStatus.fromPartial({
    id: state.nextId(),
    state: ContainerState.CONTAINER_CREATED,
    createdAt: nowNanoseconds(context.clock),
    imageRef: image.id,
    imageId: image.id,
    logPath: logPath === '' || directory === '' ? '' : `${directory}/${logPath}`,
    resources: config.linux?.resources && { linux: config.linux.resources },
    image: config.image,
    ...{ metadata, labels, annotations, mounts },
  });
  const container: ContainerRecord = {
    id: status.id,
    sandboxId: sandbox.id,
    config,
    program: context.programOf(config),
    status,
    item: containerItem(sandbox.id, status),
    gone: new AbortController(),
  };
  state.containers.set(container.id, container);
  announce(context, sandbox.id, container.id, ContainerEventType.CONTAINER_CREATED_EVENT);
  return container;
}

function refuseTwin(others: readonly ContainerRecord[], metadata: ContainerMetadata | undefined): void {
  const twin = others.find(
    ({ config }) =>
      config.metadata?.name === metadata?.name && config.metadata?.attempt === metadata?.attempt,
  );
  if (twin === undefined) return;
  const name = `${metadata?.name}, attempt ${metadata?.attempt}`;
  throw new CriError('ALREADY_EXISTS', `container ${name} is there already, as ${twin.id}`);
}

function startProgram(context: FakeContext, container: ContainerRecord): void {
  if (container.status.state !== ContainerState.CONTAINER_CREATED)
    throw new CriError('FAILED_PRECONDITION', `container ${container.id} was started before`);
  change(container, { state: ContainerState.CONTAINER_RUNNING, startedAt: nowNanoseconds(context.clock) });
  announce(context, container.sandboxId, container.id, ContainerEventType.CONTAINER_STARTED_EVENT);
  const { endsAfterMs, exitCode = 0 } = container.program;
  if (endsAfterMs === undefined) return;
  context.clock.sleep(endsAfterMs, container.gone.signal).then(
    () => endContainer(context, container, exitCode),
    () => {}, // it was stopped before
  );
}

/** The process is over. Nothing happens to one that has ended. */
export function endContainer(
  context: FakeContext,
  container: ContainerRecord,
  exitCode: number,
  reason = exitCode === 0 ? 'Completed' : 'Error',
): void {
  if (container.status.state !== ContainerState.CONTAINER_RUNNING) return;
  const finishedAt = nowNanoseconds(context.clock);
  change(container, { state: ContainerState.CONTAINER_EXITED, finishedAt, exitCode, reason });
  container.gone.abort();
  announce(context, container.sandboxId, container.id, ContainerEventType.CONTAINER_STOPPED_EVENT);
}

export const killContainer = (context: FakeContext, container: ContainerRecord): void =>
  endContainer(context, container, killed);

async function stop(
  context: FakeContext,
  container: ContainerRecord,
  graceMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { ignoresTerm = false, termExitCode = 143 } = container.program;
  if (container.status.state !== ContainerState.CONTAINER_RUNNING) return;
  if (graceMs > 0 && !ignoresTerm) return endContainer(context, container, termExitCode);
  if (graceMs > 0) await sleepUnlessGone(context, container, graceMs, signal);
  killContainer(context, container);
}

/** Until the time is over, or the container ended on another's account. @throws CANCELLED when the caller gives up */
async function sleepUnlessGone(
  { clock }: FakeContext,
  { gone }: ContainerRecord,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const either = signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]);
  try {
    await clock.sleep(milliseconds, either);
  } catch (error) {
    if (!either.aborted) throw error;
    if (!gone.signal.aborted) throw new CriError('CANCELLED', 'the caller has given up', { cause: error });
  }
}

export function removeContainer(context: FakeContext, container: ContainerRecord): void {
  killContainer(context, container);
  container.gone.abort();
  context.state.containers.delete(container.id);
  announce(context, container.sandboxId, container.id, ContainerEventType.CONTAINER_DELETED_EVENT);
}

function change(container: ContainerRecord, changes: Partial<ContainerStatus>): void {
  container.status = { ...container.status, ...changes };
  container.item = containerItem(container.sandboxId, container.status);
}

function requireRunning({ id, status }: ContainerRecord): void {
  if (status.state === ContainerState.CONTAINER_RUNNING) return;
  throw new CriError('FAILED_PRECONDITION', `container ${id} is not running`);
}

/** 0 milliseconds: without a limit. */
async function within<T>(
  { clock }: FakeContext,
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const both = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const limit = async (): Promise<never> => {
    await clock.sleep(milliseconds, both);
    throw new CriError('DEADLINE_EXCEEDED', `the program ran for more than ${milliseconds} ms`);
  };
  try {
    const working = Promise.resolve(work(both));
    return await (milliseconds === 0 ? working : Promise.race([working, limit()]));
  } finally {
    over.abort();
  }
}
