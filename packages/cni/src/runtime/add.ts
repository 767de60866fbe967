import type { NetworkConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import type { AnyResult } from '../result/types.js';
import { addChain, ChainStopped, delChain, type Operation } from './chain.js';
import { withOperationDeadline } from './deadline.js';
import { operationOf, type Scope, timed, validateAttachment } from './scope.js';
import { usablePrevResult } from './target.js';
import type { AttachmentParameters, CallOptions } from './types.js';

/** An ADD that failed and could not be undone: the caller must DEL. Code and details are those of the ADD. */
export class RollbackError extends CniError {
  readonly addError: CniError;
  readonly rollbackError: CniError;

  constructor(addError: CniError, rollbackError: CniError) {
    super(addError.code, `${addError.message}; undoing it failed too: ${rollbackError.message}`, {
      details: addError.details,
      cause: addError,
    });
    this.name = 'RollbackError';
    this.addError = addError;
    this.rollbackError = rollbackError;
  }
}

/** See `Runtime.add`. */
export async function add(
  scope: Scope,
  network: NetworkConfig,
  attachment: AttachmentParameters,
  call?: CallOptions,
): Promise<AnyResult> {
  validateAttachment(scope, network.name, attachment);
  if ((attachment.netns ?? '') === '') {
    throw new CniError(errorCodes.invalidEnvironment, 'ADD needs the path of a network namespace');
  }
  return scope.lock.shared(attachment.containerId, call?.signal, async () => {
    try {
      return await timed(scope, call, (signal) =>
        addAndCache(scope, operationOf(network, signal, call), attachment),
      );
    } catch (error) {
      if (!(error instanceof ChainStopped)) throw error;
      if (scope.rollback) await undo(scope, network, attachment, error, call);
      throw error.reason;
    }
  });
}

async function addAndCache(
  scope: Scope,
  operation: Operation,
  attachment: AttachmentParameters,
): Promise<AnyResult> {
  const { network } = operation;
  const done = await addChain(scope, operation, attachment);
  try {
    await scope.cache.write({
      ...attachment,
      network: network.name,
      config: network.source,
      result: done.raw,
    });
  } catch (error) {
    throw new ChainStopped(network.plugins.length, done, CniError.from(error));
  }
  return done.result;
}

/**
 * DEL of the plugins that were started, in reverse, with the last result there was. It has a deadline of its own and
 * does not hear the caller's signal: giving up is no reason to leave half a network behind.
 */
async function undo(
  scope: Scope,
  network: NetworkConfig,
  attachment: AttachmentParameters,
  { started, last, reason }: ChainStopped,
  call?: CallOptions,
): Promise<void> {
  if (started === 0) return;
  try {
    await withOperationDeadline(call?.timeoutMs ?? scope.timeoutMs, undefined, async (signal) => {
      const operation = { ...operationOf(network, signal, call), rollback: true };
      await delChain(scope, operation, attachment, usablePrevResult(network, last?.raw), started);
      await scope.cache.remove(network.name, attachment);
    });
  } catch (error) {
    throw new RollbackError(reason, CniError.from(error));
  }
}
