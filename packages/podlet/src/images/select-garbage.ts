/** Selects the images to remove. Pure: the same facts give the same list. */

export interface StoredImage {
  readonly id: string;
  /** Id, tags and digests: whatever a container may call it. */
  readonly names: readonly string[];
  readonly bytes: bigint;
  readonly pinned: boolean;
  /** Milliseconds since the epoch; when it was first seen here, and last in use (0: never). */
  readonly firstSeenAt: number;
  readonly lastUsedAt: number;
}

export interface ImageDisk {
  readonly usedBytes: bigint;
  readonly capacityBytes: bigint;
}

export interface GarbageRule {
  /** Percent of the file system: above `high`, images are removed until it is at `low`. */
  readonly high: number;
  readonly low: number;
  /** Milliseconds; younger ones stay: their container may just be about to be created. */
  readonly youngest: number;
  /** True to remove images that no container has used since the agent started: they may belong to others. */
  readonly neverUsed: 'keep' | 'remove';
}

/**
 * The kubelet's numbers. What was never in use stays, other than with the kubelet, which has its runtime to itself: an engine that
 * Podwire only borrows is full of images that people built.
 */
export const usualGarbageRule: GarbageRule = { high: 85, low: 80, youngest: 120_000, neverUsed: 'keep' };

/**
 * Longest unused first, then oldest, until enough bytes are free. What is in use or pinned is never among them.
 * @param inUse names of images as containers and wanted pods have them
 */
export function selectGarbage(
  images: readonly StoredImage[],
  inUse: ReadonlySet<string>,
  disk: ImageDisk,
  rule: GarbageRule,
  now: number,
): readonly StoredImage[] {
  const excess = excessBytes(disk, rule);
  const candidates = images
    .filter((image) => !image.pinned && !image.names.some((name) => inUse.has(name)))
    .filter(({ firstSeenAt }) => now - firstSeenAt >= rule.youngest)
    .filter(({ lastUsedAt }) => rule.neverUsed === 'remove' || lastUsedAt > 0)
    .sort((a, b) => a.lastUsedAt - b.lastUsedAt || a.firstSeenAt - b.firstSeenAt);
  let freed = 0n;
  return candidates.filter(({ bytes }) => {
    if (freed >= excess) return false;
    freed += bytes;
    return true;
  });
}

function excessBytes({ usedBytes, capacityBytes }: ImageDisk, { high, low }: GarbageRule): bigint {
  if (capacityBytes <= 0n || usedBytes * 100n < capacityBytes * BigInt(high)) return 0n;
  return usedBytes - (capacityBytes * BigInt(low)) / 100n;
}
