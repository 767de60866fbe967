import type { CriRuntime, Image } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import fs from 'node:fs/promises';
import type { Clock } from '../contract.js';
import { showImageName } from './image-name.js';
import {
  type GarbageRule,
  type ImageDisk,
  selectGarbage,
  type StoredImage,
  usualGarbageRule,
} from './select-garbage.js';

export interface ImageCollectorOptions {
  readonly runtime: Pick<CriRuntime, 'listImages' | 'listContainers' | 'imageFsInfo' | 'removeImage'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly rule?: GarbageRule;
  /** Names that stay: the sandbox image, which older runtimes do not pin, and images of pods that are to start. */
  readonly keep: () => Iterable<string>;
  /** Size of the file system at a path and what is used of it. */
  readonly measure?: (mountpoint: string) => Promise<ImageDisk>;
}

export interface CollectedImages {
  readonly removed: readonly string[];
  readonly freedBytes: bigint;
  readonly problems: readonly string[];
}

const nothing: CollectedImages = { removed: [], freedBytes: 0n, problems: [] };

export interface ImageCollector {
  /** Looks, and removes what is too much. @throws CriError when the runtime cannot be asked */
  collect(signal: AbortSignal): Promise<CollectedImages>;
}

interface Seen {
  readonly firstSeenAt: number;
  lastUsedAt: number;
}

export function createImageCollector(options: ImageCollectorOptions): ImageCollector {
  const { runtime, clock, rule = usualGarbageRule, keep, measure = measureDisk } = options;
  let seen = new Map<string, Seen>();
  return {
    async collect(signal) {
      const { images } = await runtime.listImages({}, { signal });
      const inUse = new Set([...(await namesInUse(runtime, signal)), ...keep()].map(showImageName));
      const now = clock.now();
      seen = remember(seen, images, inUse, now);
      const disk = await measureImages(runtime, measure, signal);
      if (disk === undefined) return nothing;
      const stored = images.map((image) => toStored(image, seen.get(image.id)!));
      return removeAll(runtime, selectGarbage(stored, inUse, disk, rule, now), signal);
    },
  };
}

async function namesInUse(runtime: ImageCollectorOptions['runtime'], signal: AbortSignal): Promise<string[]> {
  const { containers } = await runtime.listContainers({}, { signal });
  return containers.flatMap(({ imageRef, imageId, image }) =>
    [imageRef, imageId, image?.image ?? '', image?.userSpecifiedImage ?? ''].filter((name) => name !== ''),
  );
}

/** In full, as pods and runtimes leave out different parts of a name. */
function namesOf({ id, repoTags, repoDigests }: Image): string[] {
  return [id, ...repoTags, ...repoDigests].map(showImageName);
}

/** Images that are gone are forgotten. */
function remember(
  seen: ReadonlyMap<string, Seen>,
  images: readonly Image[],
  inUse: ReadonlySet<string>,
  now: number,
): Map<string, Seen> {
  return new Map(
    images.map((image) => {
      const entry = seen.get(image.id) ?? { firstSeenAt: now, lastUsedAt: 0 };
      const isUsed = namesOf(image).some((name) => inUse.has(name));
      return [image.id, isUsed ? { ...entry, lastUsedAt: now } : entry];
    }),
  );
}

function toStored(image: Image, { firstSeenAt, lastUsedAt }: Seen): StoredImage {
  const { id, size: bytes, pinned } = image;
  return { id, names: namesOf(image), bytes, pinned, firstSeenAt, lastUsedAt };
}

/** @returns undefined when the runtime does not say where its images lie */
async function measureImages(
  runtime: ImageCollectorOptions['runtime'],
  measure: (mountpoint: string) => Promise<ImageDisk>,
  signal: AbortSignal,
): Promise<ImageDisk | undefined> {
  const { imageFilesystems } = await runtime.imageFsInfo({}, { signal });
  const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
  return mountpoint === undefined || mountpoint === '' ? undefined : measure(mountpoint);
}

/** Blocks reserved for root count as used: images cannot have them. */
async function measureDisk(mountpoint: string): Promise<ImageDisk> {
  const { bsize, blocks, bavail } = await fs.statfs(mountpoint, { bigint: true });
  return { capacityBytes: blocks * bsize, usedBytes: (blocks - bavail) * bsize };
}

async function removeAll(
  runtime: ImageCollectorOptions['runtime'],
  garbage: readonly StoredImage[],
  signal: AbortSignal,
): Promise<CollectedImages> {
  const removed: StoredImage[] = [];
  const problems: string[] = [];
  for (const image of garbage) {
    signal.throwIfAborted();
    try {
      await removeOne(runtime, image, signal);
      removed.push(image);
    } catch (error) {
      problems.push(`${image.names[1] ?? image.id}: ${describeError(error)}`);
    }
  }
  const freedBytes = removed.reduce((sum, { bytes }) => sum + bytes, 0n);
  return { removed: removed.map(({ id }) => id), freedBytes, problems };
}

async function removeOne(
  runtime: ImageCollectorOptions['runtime'],
  { id }: StoredImage,
  signal: AbortSignal,
): Promise<void> {
  const image = { image: id, annotations: {}, userSpecifiedImage: '', runtimeHandler: '' };
  await runtime.removeImage({ image }, { signal });
}
