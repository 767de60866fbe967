import { compact } from '@podwire/platform';
import { type NetworkConfig, parseNetwork } from '../config/network.js';
import { type CniError, errorCodes } from '../error.js';
import type { Attachment } from '../request.js';
import { convertResult } from '../result/convert.js';
import { parseResult } from '../result/parse.js';
import type { JsonObject } from '../shape.js';
import type { CacheContent, CachedAttachment, ResultCache } from './cache.js';
import { tell } from './plugin-call.js';
import type { AttachmentParameters, DelOptions, DelReport, RuntimeObserver } from './types.js';

/** The input of a DEL or CHECK after reading the cache. */
export interface Target {
  readonly configuration: DelReport['configuration'];
  /** Undefined when only a name was given and nothing usable is cached. */
  readonly network: NetworkConfig | undefined;
  readonly attachment: AttachmentParameters;
  /** Final result of ADD, in the version of the network. */
  readonly prevResult: unknown;
}

/** Puts together what the caller gave and what the cache knows; see `DelOptions.configuration`. */
export function resolveTarget(
  given: NetworkConfig | string,
  attachment: AttachmentParameters,
  content: CacheContent,
  prefer: NonNullable<DelOptions['configuration']>,
): Target {
  const cached = content.kind === 'attachment' ? content.attachment : undefined;
  const fromCache = cached && parseCached(cached);
  const fromCaller = typeof given === 'string' ? undefined : given;
  const network = prefer === 'given' ? (fromCaller ?? fromCache) : (fromCache ?? fromCaller);
  return {
    configuration: network === undefined ? 'none' : network === fromCache ? 'cached' : 'given',
    network,
    attachment: cached === undefined ? attachment : withCached(attachment, cached),
    prevResult: network && findPrevResult(network, content),
  };
}

/** A configuration that an old or other library cached may be none that we can run; then the caller's has to do. */
function parseCached({ config, network }: CachedAttachment): NetworkConfig | undefined {
  try {
    const parsed = parseNetwork(config);
    return parsed.name === network && parsed.plugins.length > 0 ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Runtimes do not repeat every argument at DEL (kubelet leaves the bandwidth out); what is cached fills the gaps. */
function withCached(attachment: AttachmentParameters, cached: CachedAttachment): AttachmentParameters {
  const netns = attachment.netns ?? cached.netns;
  const args = attachment.args ?? cached.args;
  return {
    ...attachment,
    ...compact({ netns, args }),
    capabilityArgs: { ...cached.capabilityArgs, ...attachment.capabilityArgs },
  };
}

function findPrevResult(network: NetworkConfig, content: CacheContent): unknown {
  if (content.kind === 'bare-result') return usablePrevResult(network, content.result);
  return content.kind === 'attachment' ? usablePrevResult(network, content.attachment.result) : undefined;
}

/**
 * A result as plugins of the network get it: in the version of the configuration, untouched if it is in it already.
 * Undefined when there is none or it cannot be converted: a DEL must go on without (cni #1072).
 */
export function usablePrevResult({ cniVersion }: NetworkConfig, raw: JsonObject | undefined): unknown {
  if (raw === undefined) return undefined;
  try {
    const result = parseResult(raw, cniVersion);
    return result.cniVersion === cniVersion ? { ...raw, cniVersion } : convertResult(result, cniVersion);
  } catch {
    return undefined;
  }
}

/** Reads the cache for a DEL. A file that holds nothing usable is removed, so that it does not block the next operation. */
export async function readForDel(
  cache: ResultCache,
  network: string,
  attachment: Attachment,
  observer: RuntimeObserver,
): Promise<CacheContent> {
  const content = await cache.read(network, attachment);
  if (content.kind === 'unreadable' && content.error.code === errorCodes.decodingFailure) {
    await dropFile(cache, cache.fileOf(network, attachment), content.error, observer);
  }
  return content;
}

export async function dropFile(
  cache: ResultCache,
  file: string,
  reason: CniError,
  observer: RuntimeObserver,
): Promise<void> {
  await cache.removeFile(file);
  tell(() => observer.cacheDropped?.(file, reason));
}
