import fs from 'node:fs/promises';
import { CriError, type ImageService, type ImageSpec, nowNanoseconds } from '@podwire/cri';
import type { Context } from '../context.js';
import { findImage, hostImage } from './images.js';

/** The image service: whatever is asked for by a name is there, so there is never anything to pull. */
export function imageCalls(context: Context): ImageService {
  return {
    listImages: ({ filter }) => {
      const wanted = filter?.image?.image ?? '';
      const image = findImage(wanted === '' ? hostImage : wanted);
      return Promise.resolve({ images: image === undefined ? [] : [image] });
    },
    imageStatus: ({ image, verbose }) => {
      const found = findImage(nameOf(image));
      const note = 'the embedded runtime has no images: a name stands for the root file system of the host';
      return Promise.resolve({ image: found, info: verbose ? { note } : {} });
    },
    pullImage: ({ image }) => {
      const name = nameOf(image);
      const found = findImage(name);
      if (found === undefined)
        return Promise.reject(new CriError('NOT_FOUND', `there is no directory ${name}`));
      return Promise.resolve({ imageRef: found.id });
    },
    removeImage: () => Promise.resolve({}),
    imageFsInfo: () => fileSystemInfo(context),
  };
}

const nameOf = (image: ImageSpec | undefined): string => image?.image ?? '';

async function fileSystemInfo(context: Context): ReturnType<ImageService['imageFsInfo']> {
  const { blocks, bfree, bsize, files, ffree } = await fs.statfs(context.directory, { bigint: true });
  const usage = {
    timestamp: nowNanoseconds(context.clock),
    fsId: { mountpoint: context.directory },
    usedBytes: { value: (blocks - bfree) * bsize },
    inodesUsed: { value: files - ffree },
  };
  return { imageFilesystems: [usage], containerFilesystems: [usage] };
}
