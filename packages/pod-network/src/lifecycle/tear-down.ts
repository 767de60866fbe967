import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { NetworkCallOptions, PodDetachment } from '../contract.js';
import { describeFailures } from '../observe/failure-text.js';
import { podKey, type Scope } from './context.js';
import { detach } from './detach.js';

/** See `PodNetwork.tearDown`. */
export async function tearDownPod(
  scope: Scope,
  pod: PodDetachment,
  options: NetworkCallOptions,
): Promise<void> {
  const { sandboxId, netns } = pod;
  try {
    await scope.gate.shared(await keyOf(scope, pod), options.signal, () =>
      detach(scope, { sandboxId, ...compact({ netns }) }, options),
    );
  } catch (error) {
    if (error instanceof PodwireError) throw error;
    throw new PodwireError('NETWORK_DETACH_FAILED', describeFailures([error]), {
      cause: error,
      details: { sandbox: sandboxId },
    });
  }
}

/** A sandbox service that has lost container and checkpoint knows only the id. */
async function keyOf({ records }: Scope, pod: PodDetachment): Promise<string> {
  if (pod.name !== '') return podKey(pod);
  const record = await records.read(pod.sandboxId);
  return record === undefined ? pod.sandboxId : podKey(record);
}
