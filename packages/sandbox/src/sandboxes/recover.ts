/**
 * After a start of the service: what of the sandboxes is whole, and what was cut off half-way. There is no journal, since the
 * facts say it: a sandbox is whole when it runs, its namespace is pinned, and its network has written down its addresses,
 * which happens last. All else is taken down, so that neither a crash nor a reboot leaves an address taken.
 */
import { describeError } from '@podwire/errors';
import type { SandboxContext } from '../context.js';
import type { ListedContainer } from '../docker/index.js';
import { labelKeys, sandboxType } from '../labels.js';
import { dismantleSandbox } from './dismantle.js';
import { isPinnedTo, pinSandbox } from './netns.js';
import { listWorkloads, stopSandbox } from './stop.js';

type Verdict = 'whole' | 'cut off' | 'ended' | 'never ran' | 'unknown';

/** @returns how many sandboxes are alive. @throws the engine's error when it cannot be asked */
export async function recoverSandboxes(context: SandboxContext, signal: AbortSignal): Promise<number> {
  const checkpointed = await context.checkpoints.ids();
  const containers = await context.docker.listContainers(
    { label: [`${labelKeys.type}=${sandboxType}`] },
    { signal },
  );
  const alive: string[] = [];
  for (const container of containers) {
    const verdict = await judge(context, container, signal);
    if (verdict === 'whole' || verdict === 'unknown') alive.push(container.Id);
    await act(context, container.Id, verdict, signal);
  }
  const known = new Set(containers.map(({ Id }) => Id));
  for (const id of checkpointed.filter((one) => !known.has(one))) {
    await tolerate(context, id, () => dismantleSandbox(context, id, { keepContainer: false }));
  }
  await tolerate(context, 'all', () => context.network.collectGarbage(alive, { signal }));
  context.faults.reach('recover:done');
  return alive.length;
}

async function judge(
  context: SandboxContext,
  { Id, State }: ListedContainer,
  signal: AbortSignal,
): Promise<Verdict> {
  if (State === 'created') return 'never ran';
  if (State !== 'running') return 'ended';
  try {
    const { HostConfig, State: state } = await context.docker.inspectContainer(Id, {}, { signal });
    if (HostConfig.NetworkMode === 'host') return 'whole';
    if ((await context.network.addresses(Id)) === undefined) return 'cut off';
    if (!isPinnedTo(context, Id, state.Pid)) await pinSandbox(context, Id, signal);
    return 'whole';
  } catch (error) {
    context.log.warn(
      { sandbox: Id, err: error },
      'nobody knows whether this sandbox is whole; it is left as it is',
    );
    return 'unknown';
  }
}

async function act(
  context: SandboxContext,
  id: string,
  verdict: Verdict,
  signal: AbortSignal,
): Promise<void> {
  if (verdict === 'whole') context.networkReady.set(id, true);
  if (verdict === 'whole' || verdict === 'unknown') return;
  context.log.info({ sandbox: id, verdict }, 'a sandbox of earlier is taken down');
  await tolerate(context, id, async () => {
    if (verdict === 'never ran') return dismantleSandbox(context, id, { keepContainer: false });
    if (verdict === 'cut off' && (await listWorkloads(context, id, signal)).length === 0) {
      return dismantleSandbox(context, id, { keepContainer: false });
    }
    return stopSandbox(context, id, signal);
  });
}

/** What fails now is tried again by the Stop that the caller of the interface will make. */
async function tolerate(context: SandboxContext, id: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    context.log.warn({ sandbox: id, err: error }, `recovery of a sandbox: ${describeError(error)}`);
  }
}
