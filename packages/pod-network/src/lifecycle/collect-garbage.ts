import type { Attachment, NetworkConfig } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { NetworkCallOptions } from '../contract.js';
import { describeFailures } from '../observe/failure-text.js';
import { podInterface, type Scope, traceVariables } from './context.js';
import { detach } from './detach.js';

/**
 * First a DEL for each sandbox of ours that is not alive, on whatever network it was; then GC of the present network's plugins
 * (from CNI 1.1.0), which frees attachments that are in no cache. Goes on after failures.
 */
export async function collectGarbage(
  scope: Scope,
  live: readonly string[],
  network: NetworkConfig | undefined,
  options: NetworkCallOptions,
): Promise<void> {
  const failures = await scope.gate.exclusive(options.signal, async () => {
    const failed: unknown[] = [];
    const attempt = (work: () => Promise<void>): Promise<void> =>
      work().catch((error: unknown) => void failed.push(error));
    for (const sandboxId of await findDead(scope, new Set(live))) {
      await attempt(() => detach(scope, { sandboxId }, options));
    }
    if (network !== undefined) await attempt(() => collect(scope, live, network, options));
    return failed;
  });
  if (failures.length === 0) return;
  const words = describeFailures(failures.map((each) => (each instanceof PodwireError ? each.cause : each)));
  throw new PodwireError('NETWORK_DETACH_FAILED', `garbage collection did not finish: ${words}`, {
    cause: new AggregateError(failures),
  });
}

async function findDead({ records, runtime }: Scope, live: ReadonlySet<string>): Promise<readonly string[]> {
  const [recorded, cached] = await Promise.all([records.list(), runtime.attachments()]);
  const ids = [
    ...recorded.map(({ sandboxId }) => sandboxId),
    ...cached.map(({ containerId }) => containerId),
  ];
  return [...new Set(ids)].filter((id) => !live.has(id));
}

async function collect(
  { runtime }: Scope,
  live: readonly string[],
  network: NetworkConfig,
  { signal, parent }: NetworkCallOptions,
): Promise<void> {
  const valid = live.map((containerId): Attachment => ({ containerId, interfaceName: podInterface }));
  await runtime.gc(network, valid, {
    env: traceVariables(parent),
    ...compact({ signal }),
  });
}
