import { formatCniArgs } from '../args.js';
import type { NetworkConfig } from '../config/network.js';
import { validateContainerId, validateInterfaceName, validateNetworkName } from '../names.js';
import type { ResultCache } from './cache.js';
import type { Operation } from './chain.js';
import { withOperationDeadline } from './deadline.js';
import type { OperationLock } from './operation-lock.js';
import type { CallContext } from './plugin-call.js';
import type { AttachmentParameters, CallOptions } from './types.js';

/** Everything the operations of one runtime share. */
export interface Scope extends CallContext {
  readonly cache: ResultCache;
  readonly lock: OperationLock;
  readonly timeoutMs: number;
  readonly rollback: boolean;
}

/** Runs work under the operation's deadline and the caller's signal. */
export function timed<T>(
  scope: Scope,
  call: CallOptions | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withOperationDeadline(call?.timeoutMs ?? scope.timeoutMs, call?.signal, work);
}

export function operationOf(
  network: NetworkConfig,
  signal: AbortSignal,
  call: CallOptions | undefined,
): Operation {
  return { network, signal, env: call?.env ?? {} };
}

/** Refuses what could not be run or cached before anything is touched. */
export function validateAttachment(scope: Scope, network: string, attachment: AttachmentParameters): void {
  validateContainerId(attachment.containerId);
  validateNetworkName(network);
  validateInterfaceName(attachment.interfaceName);
  formatCniArgs(attachment.args ?? []);
  scope.cache.fileOf(network, attachment);
}
