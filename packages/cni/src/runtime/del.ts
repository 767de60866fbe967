import type { NetworkConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import { isAtLeast } from '../version.js';
import { checkChain, delChain, type Operation, unknownAttachment } from './chain.js';
import { operationOf, type Scope, timed, validateAttachment } from './scope.js';
import { readForDel, resolveTarget, type Target } from './target.js';
import type { AttachmentParameters, DelOptions, DelReport } from './types.js';

/** See `Runtime.del`. */
export async function del(
  scope: Scope,
  network: NetworkConfig | string,
  attachment: AttachmentParameters,
  call?: DelOptions,
): Promise<DelReport> {
  const name = typeof network === 'string' ? network : network.name;
  validateAttachment(scope, name, attachment);
  return scope.lock.shared(attachment.containerId, call?.signal, () =>
    timed(scope, call, (signal) => delOne(scope, network, attachment, signal, call)),
  );
}

/** The DEL itself, for callers that have the lock. */
export async function delOne(
  scope: Scope,
  given: NetworkConfig | string,
  attachment: AttachmentParameters,
  signal: AbortSignal,
  call?: DelOptions,
): Promise<DelReport> {
  const name = typeof given === 'string' ? given : given.name;
  const content = await readForDel(scope.cache, name, attachment, scope.observer);
  const target = resolveTarget(given, attachment, content, call?.configuration ?? 'cached');
  if (target.network !== undefined) {
    await delChain(scope, operationOf(target.network, signal, call), target.attachment, target.prevResult);
  } else if (content.kind === 'unreadable' && content.error.code === errorCodes.ioFailure) {
    // Nothing was run: to forget the file now would be to lose the attachment.
    throw content.error;
  }
  if (content.kind !== 'none') await scope.cache.remove(name, attachment);
  return { configuration: target.configuration };
}

/** See `Runtime.check`. */
export async function check(
  scope: Scope,
  network: NetworkConfig | string,
  attachment: AttachmentParameters,
  call?: DelOptions,
): Promise<void> {
  const name = typeof network === 'string' ? network : network.name;
  validateAttachment(scope, name, attachment);
  return scope.lock.shared(attachment.containerId, call?.signal, () =>
    timed(scope, call, async (signal) => {
      const content = await scope.cache.read(name, attachment);
      const target = resolveTarget(network, attachment, content, call?.configuration ?? 'cached');
      await checkTarget(scope, name, target, typeof network !== 'string' && network.disableCheck, (found) =>
        operationOf(found, signal, call),
      );
    }),
  );
}

async function checkTarget(
  scope: Scope,
  name: string,
  { network, attachment, prevResult }: Target,
  disabled: boolean,
  operation: (network: NetworkConfig) => Operation,
): Promise<void> {
  if (network === undefined) throw unknownAttachment(name, attachment);
  if (!isAtLeast(network.cniVersion, '0.4.0')) {
    throw new CniError(
      errorCodes.incompatibleVersion,
      `version ${network.cniVersion} of network ${name} has no CHECK`,
    );
  }
  if (disabled || network.disableCheck) return;
  if (prevResult === undefined) throw unknownAttachment(name, attachment);
  await checkChain(scope, operation(network), attachment, prevResult);
}
