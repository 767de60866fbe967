/** PodSandboxStatus and ListPodSandbox: Docker's view in the words of the interface. */
import {
  type PodSandbox,
  type PodSandboxFilter,
  PodSandbox as PodSandboxMessage,
  PodSandboxState,
  PodSandboxStatus,
} from '@podwire/cri';
import { describeError } from '@podwire/errors';
import type { SandboxContext } from '../context.js';
import { type InspectedContainer, type ListedContainer, parseTime } from '../docker/index.js';
import { inspectSandbox, listOwn } from '../containers/lookup.js';
import { decodeLabels, labelKeys, sandboxType } from '../labels.js';
import { parseName } from '../names.js';
import { namespaceOptionsOf } from './namespaces.js';

/** @throws CriError NOT_FOUND */
export async function readSandboxStatus(
  context: SandboxContext,
  id: string,
  signal: AbortSignal,
): Promise<PodSandboxStatus> {
  return describeSandbox(context, await inspectSandbox(context, id, signal));
}

export async function describeSandbox(
  context: SandboxContext,
  found: InspectedContainer,
): Promise<PodSandboxStatus> {
  const [ip = '', ...more] = await findAddresses(context, found);
  return PodSandboxStatus.fromPartial({
    id: found.Id,
    metadata: metadataOf(found.Name),
    state: found.State.Running ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: parseTime(found.Created),
    network: { ip, additionalIps: more.map((address) => ({ ip: address })) },
    linux: { namespaces: { options: namespaceOptionsOf(found.HostConfig) } },
    ...decodeLabels(found.Config.Labels, sandboxType),
    runtimeHandler: '',
  });
}

function metadataOf(name: string): { name: string; namespace: string; uid: string; attempt: number } {
  const { pod = '', namespace = '', uid = '', attempt = 0 } = parseName(name) ?? {};
  return { name: pod, namespace, uid, attempt };
}

/** From the result of CNI; Docker's own only where there is none, which is a network that Docker itself made. */
async function findAddresses(context: SandboxContext, found: InspectedContainer): Promise<readonly string[]> {
  const isOnHost = found.HostConfig.NetworkMode === 'host';
  if (isOnHost || !found.State.Running || context.networkReady.get(found.Id) === false) return [];
  try {
    const addresses = await context.network.addresses(found.Id);
    if (addresses !== undefined) return addresses;
  } catch (error) {
    context.log.warn({ sandbox: found.Id, err: error }, `the addresses are unknown: ${describeError(error)}`);
  }
  return dockersAddresses(found);
}

function dockersAddresses({ NetworkSettings: settings }: InspectedContainer): string[] {
  const networks = [settings ?? {}, ...Object.values(settings?.Networks ?? {})];
  const all = networks.flatMap(({ IPAddress, GlobalIPv6Address }) => [IPAddress, GlobalIPv6Address]);
  return [...new Set(all.filter((one): one is string => one !== undefined && one !== ''))];
}

/**
 * Checkpoints are listed before containers: one that is removed in between then shows up as gone, never as one whose
 * container has vanished. Without a filter those that have only a checkpoint left are listed too, as not ready.
 */
export async function listSandboxes(
  context: SandboxContext,
  filter: PodSandboxFilter | undefined,
  signal: AbortSignal,
): Promise<PodSandbox[]> {
  const isFiltered = filter !== undefined && !isEmpty(filter);
  const checkpointed = isFiltered ? [] : await context.checkpoints.ids();
  const containers = await listOwn(context, toDockerFilters(filter), signal);
  const times = await context.created.of(containers, signal);
  const listed = containers
    .map((one) => toSandbox(one, times.get(one.Id) ?? 0n))
    .filter((sandbox) => matches(sandbox, filter));
  const known = new Set(containers.map(({ Id }) => Id));
  const lost = await Promise.all(
    checkpointed.filter((id) => !known.has(id)).map((id) => readLostSandbox(context, id)),
  );
  return [...listed, ...lost.filter((one) => one !== undefined)];
}

function isEmpty({ id, state, labelSelector }: PodSandboxFilter): boolean {
  return id === '' && state === undefined && Object.keys(labelSelector).length === 0;
}

function toDockerFilters(filter: PodSandboxFilter | undefined): Record<string, readonly string[]> {
  const labels = Object.entries(filter?.labelSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  const isReady = filter?.state?.state === PodSandboxState.SANDBOX_READY;
  return {
    label: [`${labelKeys.type}=${sandboxType}`, ...labels],
    ...(filter?.id ? { id: [filter.id] } : {}),
    ...(filter?.state !== undefined && isReady ? { status: ['running'] } : {}),
  };
}

/** Docker's filter by id also finds it in the middle; and "not running" is no filter of Docker's. */
function matches(sandbox: PodSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter?.state !== undefined && sandbox.state !== filter.state.state) return false;
  return sandbox.id.startsWith(filter?.id ?? '');
}

function toSandbox({ Id, Names, State, Labels }: ListedContainer, createdAt: bigint): PodSandbox {
  return PodSandboxMessage.fromPartial({
    id: Id,
    metadata: metadataOf(Names?.find((name) => parseName(name) !== undefined) ?? ''),
    state: State === 'running' ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt,
    ...decodeLabels(Labels, sandboxType),
  });
}

async function readLostSandbox(
  { checkpoints, log }: SandboxContext,
  id: string,
): Promise<PodSandbox | undefined> {
  const checkpoint = await checkpoints.read(id).catch((error: unknown) => {
    log.warn({ sandbox: id, err: error }, 'a checkpoint cannot be read');
    return undefined;
  });
  if (checkpoint === undefined) return undefined;
  return PodSandboxMessage.fromPartial({
    id,
    metadata: { name: checkpoint.name, namespace: checkpoint.namespace, uid: '', attempt: 0 },
    state: PodSandboxState.SANDBOX_NOTREADY,
  });
}
