import { nowNanoseconds } from '../node-facts.js';
import { CriError } from '../error.js';
import { matchesSandboxFilter } from '../filters.js';
import {
  ContainerEventType,
  NamespaceMode,
  PodSandboxState,
  type PodSandboxConfig,
  type RunPodSandboxRequest,
} from '../messages.js';
import type { AnswersOf } from './calls.js';
import { killContainer, removeContainer } from './containers.js';
import { announce, type FakeContext } from './context.js';
import { containersOf, getSandbox, sandboxItem, type SandboxRecord, sandboxStatus } from './state.js';

type SandboxCalls = AnswersOf<
  'runPodSandbox' | 'stopPodSandbox' | 'removePodSandbox' | 'podSandboxStatus' | 'listPodSandbox'
>;

export function sandboxCalls(context: FakeContext): SandboxCalls {
  const { state } = context;
  return {
    runPodSandbox: (request) => ({ podSandboxId: runSandbox(context, request).id }),
    stopPodSandbox: ({ podSandboxId }) => {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox !== undefined) stopSandbox(context, sandbox);
      return {};
    },
    removePodSandbox: ({ podSandboxId }) => {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox !== undefined) removeSandbox(context, sandbox);
      return {};
    },
    podSandboxStatus: ({ podSandboxId }) => ({
      status: sandboxStatus(getSandbox(state, podSandboxId)),
      info: {},
      containersStatuses: containersOf(state, podSandboxId).map(({ status }) => status),
      timestamp: nowNanoseconds(context.clock),
    }),
    listPodSandbox: ({ filter }) => {
      const items = [...state.sandboxes.values()].map(({ item }) => item);
      return { items: items.filter((item) => matchesSandboxFilter(item, filter)) };
    },
  };
}

function runSandbox(context: FakeContext, { config, runtimeHandler }: RunPodSandboxRequest): SandboxRecord {
  const { state, addressesOf } = context;
  if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
  if (runtimeHandler !== '')
    throw new CriError('INVALID_ARGUMENT', `there is no runtime handler "${runtimeHandler}"`);
  const twin = [...state.sandboxes.values()].find((other) => nameOf(other.config) === nameOf(config));
  if (twin !== undefined)
    throw new CriError('ALREADY_EXISTS', `sandbox ${nameOf(config)} is there already, as ${twin.id}`);
  const bare = {
    id: state.nextId(),
    config,
    runtimeHandler,
    createdAt: nowNanoseconds(context.clock),
    addresses: isOnHost(config) ? [] : addressesOf(config),
    state: PodSandboxState.SANDBOX_READY,
  };
  const sandbox: SandboxRecord = { ...bare, item: sandboxItem(bare) };
  state.sandboxes.set(sandbox.id, sandbox);
  announce(context, sandbox.id, sandbox.id, ContainerEventType.CONTAINER_CREATED_EVENT);
  announce(context, sandbox.id, sandbox.id, ContainerEventType.CONTAINER_STARTED_EVENT);
  return sandbox;
}

/** The key that must be unique: pod and attempt. */
function nameOf({ metadata }: PodSandboxConfig): string {
  return `${metadata?.namespace}/${metadata?.name}/${metadata?.uid}/${metadata?.attempt}`;
}

const isOnHost = ({ linux }: PodSandboxConfig): boolean =>
  linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;

/** Also how a sandbox dies by itself. Its addresses are given back. */
export function stopSandbox(context: FakeContext, sandbox: SandboxRecord): void {
  for (const container of containersOf(context.state, sandbox.id)) killContainer(context, container);
  if (sandbox.state === PodSandboxState.SANDBOX_NOTREADY) return;
  sandbox.state = PodSandboxState.SANDBOX_NOTREADY;
  sandbox.item = sandboxItem(sandbox);
  announce(context, sandbox.id, sandbox.id, ContainerEventType.CONTAINER_STOPPED_EVENT);
}

function removeSandbox(context: FakeContext, sandbox: SandboxRecord): void {
  stopSandbox(context, sandbox);
  for (const container of containersOf(context.state, sandbox.id)) removeContainer(context, container);
  context.state.sandboxes.delete(sandbox.id);
  announce(context, sandbox.id, sandbox.id, ContainerEventType.CONTAINER_DELETED_EVENT);
}
