/**
 * After a start of the service: what of its sandboxes is whole, and what was cut off half-way. There is no journal, since the
 * facts say it: a sandbox is whole when it runs, its namespace is pinned, and its network has written down its addresses,
 * which happens last. All else is taken down, so that neither a crash nor a reboot leaves an address taken. Sandboxes that
 * another service made are not touched.
 */
import { describeError } from '@podwire/errors';
import type { SandboxContext } from '../context.js';
import type { ListedContainer } from '../docker/index.js';
import { labelKeys, sandboxType } from '../labels.js';
import { teardownSandbox } from './teardown.js';
import { isPinnedTo, pinSandbox } from './netns.js';
import { listWorkloads, stopSandbox } from './stop.js';
import { type AdoptNetwork, adoptSandbox } from './adopt.js';

type SandboxState = 'whole' | 'cut off' | 'ended' | 'never ran' | 'unknown';

/**
 * @param adoptNetwork adopts what others made; without it they keep it
 * @returns how many sandboxes are alive. @throws the engine's error when it cannot be asked
 */
export async function recoverSandboxes(
  context: SandboxContext,
  adoptNetwork: AdoptNetwork | undefined,
  signal: AbortSignal,
): Promise<number> {
  const checkpointed = await context.checkpoints.ids();
  const containers = await context.docker.listContainers(
    { label: [`${labelKeys.type}=${sandboxType}`] },
    { signal },
  );
  const foreign = containers.filter(({ Id, Labels }) => !context.owners.owns(Id, Labels));
  const alive: string[] = [];
  for (const container of containers.filter((one) => !foreign.includes(one))) {
    const state = await evaluate(context, container, signal);
    if (state === 'whole' || state === 'unknown') alive.push(container.Id);
    await act(context, container.Id, state, signal);
  }
  const known = new Set(containers.map(({ Id }) => Id));
  for (const id of checkpointed.filter((one) => !known.has(one))) {
    await tolerate(context, id, () => teardownSandbox(context, id, { keepContainer: false }));
  }
  await adoptForeign(context, foreign, adoptNetwork, signal);
  // The plugins are told to keep what others have as well: their attachments may be on the same network.
  const kept = [...alive, ...foreign.map(({ Id }) => Id)];
  await tolerate(context, 'all', () => context.network.collectGarbage(kept, { signal }));
  context.faults.reach('recover:done');
  return alive.length;
}

async function adoptForeign(
  context: SandboxContext,
  foreign: readonly ListedContainer[],
  adoptNetwork: AdoptNetwork | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (adoptNetwork === undefined) {
    if (foreign.length > 0)
      context.log.warn(
        { sandboxes: foreign.map(({ Id }) => Id) },
        'sandboxes that another service made are left alone; --take-over adopts them',
      );
    return;
  }
  for (const { Id } of foreign) await adoptSandbox(context, Id, adoptNetwork, signal);
}

async function evaluate(
  context: SandboxContext,
  { Id, State, Labels }: ListedContainer,
  signal: AbortSignal,
): Promise<SandboxState> {
  if (State === 'created') return 'never ran';
  if (State !== 'running') return 'ended';
  try {
    const { HostConfig, State: engineState } = await context.docker.inspectContainer(Id, {}, { signal });
    if (HostConfig.NetworkMode === 'host') return 'whole';
    // An adopted one was whole, also where nothing is known of its network.
    const isWhole = !context.owners.made(Labels) || (await context.network.addresses(Id)) !== undefined;
    if (!isWhole) return 'cut off';
    if (!isPinnedTo(context, Id, engineState.Pid)) await pinSandbox(context, Id, signal);
    return 'whole';
  } catch (error) {
    context.log.warn({ sandbox: Id, err: error }, 'could not inspect the sandbox, leaving it as it is');
    return 'unknown';
  }
}

async function act(
  context: SandboxContext,
  id: string,
  state: SandboxState,
  signal: AbortSignal,
): Promise<void> {
  if (state === 'whole') context.networkReady.set(id, true);
  if (state === 'whole' || state === 'unknown') return;
  context.log.info({ sandbox: id, state }, 'stopping a sandbox of an earlier run');
  await tolerate(context, id, async () => {
    if (state === 'never ran') return teardownSandbox(context, id, { keepContainer: false });
    if (state === 'cut off' && (await listWorkloads(context, id, signal)).length === 0) {
      return teardownSandbox(context, id, { keepContainer: false });
    }
    return stopSandbox(context, id, signal);
  });
}

/** The Stop that the caller of the interface will make tries again what fails now. */
async function tolerate(context: SandboxContext, id: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    context.log.warn({ sandbox: id, err: error }, `recovery of a sandbox: ${describeError(error)}`);
  }
}
