import path from 'node:path';
import type { NetworkConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import { validateNetworkName } from '../names.js';
import type { Attachment } from '../request.js';
import type { CacheListing } from './cache.js';
import { gcChain } from './chain.js';
import { delOne } from './del.js';
import { operationOf, type Scope, timed } from './scope.js';
import { dropFile } from './target.js';
import type { CallOptions } from './types.js';

/** See `Runtime.gc`. */
export async function gc(
  scope: Scope,
  network: NetworkConfig,
  valid: readonly Attachment[] | null,
  call?: CallOptions,
): Promise<void> {
  validateNetworkName(network.name);
  if (network.disableGC) return;
  const failures = await scope.lock.exclusive(call?.signal, () =>
    timed(scope, call, async (signal) => [
      ...(await delStale(scope, network, valid ?? [], signal, call)),
      ...(await gcChain(scope, operationOf(network, signal, call), valid)),
    ]),
  );
  if (failures.length > 0) throw gcFailure(network.name, failures);
}

/**
 * One DEL for each cached attachment that is not in use. Libcni takes a cache that it cannot list for an empty one, and
 * so for "all is well"; here it is a failure like the others.
 */
async function delStale(
  scope: Scope,
  network: NetworkConfig,
  valid: readonly Attachment[],
  signal: AbortSignal,
  call?: CallOptions,
): Promise<readonly CniError[]> {
  const failures: CniError[] = [];
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => failures.push(CniError.from(error)));
  };
  await attempt(async () => {
    for (const listing of await scope.cache.list()) {
      await attempt(() => removeIfStale(scope, network, valid, listing, signal, call));
    }
  });
  return failures;
}

async function removeIfStale(
  scope: Scope,
  network: NetworkConfig,
  valid: readonly Attachment[],
  { file, content }: CacheListing,
  signal: AbortSignal,
  call?: CallOptions,
): Promise<void> {
  if (content.kind === 'unreadable') return prune(scope, network, valid, file, content.error);
  if (content.kind !== 'attachment' || content.attachment.network !== network.name) return;
  const { containerId, interfaceName } = content.attachment;
  if (valid.some((one) => one.containerId === containerId && one.interfaceName === interfaceName)) return;
  await delOne(scope, network, { containerId, interfaceName }, signal, call);
}

/**
 * Removes a file of this network that holds nothing usable (zero bytes after a power loss, cni #1055) unless a valid
 * attachment would write it again. A file that merely could not be read, as by EACCES, stays.
 */
async function prune(
  scope: Scope,
  network: NetworkConfig,
  valid: readonly Attachment[],
  file: string,
  reason: CniError,
): Promise<void> {
  const ours = path.basename(file).startsWith(`${network.name}-`);
  const inUse = valid.some((attachment) => scope.cache.fileOf(network.name, attachment) === file);
  if (reason.code === errorCodes.decodingFailure && ours && !inUse) {
    await dropFile(scope.cache, file, reason, scope.observer);
  }
}

function gcFailure(network: string, failures: readonly CniError[]): CniError {
  const code = failures[0]?.code ?? errorCodes.internal;
  const messages = failures.map(({ message }) => message);
  return new CniError(code, `garbage collection of network ${network} had ${failures.length} failures`, {
    details: messages.join('\n'),
    cause: new AggregateError(failures, messages.join('; ')),
  });
}
