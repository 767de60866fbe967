import { compact } from '@podwire/platform';
import { CniError, errorCodes } from '../error.js';
import { createProcessExec } from '../exec/process-exec.js';
import { add } from './add.js';
import { createResultCache, type CachedAttachment, type ResultCache } from './cache.js';
import { statusChain } from './chain.js';
import { check, del } from './del.js';
import { createOperationLock } from './operation-lock.js';
import { gc } from './gc.js';
import { probeVersions, validateNetwork } from './probe.js';
import { operationOf, type Scope, timed } from './scope.js';
import type { CallOptions, Runtime, RuntimeOptions } from './types.js';

/** Milliseconds for one operation; what kubelet gives a pod's networks. */
const DEFAULT_TIMEOUT_MS = 220_000;

/** Makes a runtime; see {@link Runtime} for what it does and {@link RuntimeOptions} for units and defaults. */
export function createRuntime(options: RuntimeOptions): Runtime {
  const scope = createScope(options);
  return {
    add: (network, attachment, call) => asCniError(() => add(scope, network, attachment, call)),
    del: (network, attachment, call) => asCniError(() => del(scope, network, attachment, call)),
    check: (network, attachment, call) => asCniError(() => check(scope, network, attachment, call)),
    gc: (network, valid, call) => asCniError(() => gc(scope, network, valid, call)),
    status: (network, call) =>
      asCniError(() =>
        timed(scope, call, (signal) => statusChain(scope, operationOf(network, signal, call))),
      ),
    version: (plugin, call) => asCniError(() => version(scope, plugin, call)),
    validate: (network, call) =>
      asCniError(() => validateNetwork(network, (plugin) => version(scope, plugin, call))),
    attachments: (containerId) => asCniError(() => listAttachments(scope.cache, containerId)),
  };
}

function createScope(options: RuntimeOptions): Scope {
  return {
    exec: options.exec ?? createProcessExec(),
    pluginPath: options.pluginPath,
    env: definedOf(options.env ?? process.env),
    observer: options.observer ?? {},
    now: options.now ?? (() => performance.now()),
    lock: createOperationLock(),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    rollback: options.rollback ?? false,
    cache: createResultCache({
      ...compact({ directory: options.cacheDir }),
      ...(options.files && { files: options.files }),
      durable: options.durable ?? true,
    }),
  };
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Callers get one kind of error. */
async function asCniError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw CniError.from(error);
  }
}

async function version(scope: Scope, plugin: string, call?: CallOptions): Promise<readonly string[]> {
  return timed(scope, call, (signal) => probeVersions(scope, plugin, { signal, env: call?.env ?? {} }));
}

async function listAttachments(
  cache: ResultCache,
  containerId?: string,
): Promise<readonly CachedAttachment[]> {
  const listings = await cache.list(containerId);
  const found = listings.flatMap(({ content }) =>
    content.kind === 'attachment' ? [content.attachment] : [],
  );
  if (containerId === undefined) return found;
  for (const { content } of listings)
    if (content.kind === 'unreadable' && content.error.code === errorCodes.ioFailure) throw content.error;
  return found.filter((attachment) => attachment.containerId === containerId);
}
