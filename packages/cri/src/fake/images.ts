import { nowNanoseconds } from '../node-facts.js';
import { createHash } from 'node:crypto';
import { CriError } from '../error.js';
import { Image } from '../messages.js';
import type { ImageService } from '../services.js';
import type { AnswersOf } from './calls.js';
import { type FakeContext } from './context.js';
import type { FakeState } from './state.js';

/** True if a registry has the image. */
export type Registry = (name: string) => boolean;

/** `busybox` is `busybox:latest`; names with tag or digest, and ids, stay. */
const completeName = (name: string): string =>
  /[:@][^/]*$/.test(name) || name.startsWith('sha256:') ? name : `${name}:latest`;

export function imageCalls(context: FakeContext, registry: Registry): AnswersOf<keyof ImageService> {
  const { state } = context;
  return {
    listImages: ({ filter }) => {
      const wanted = filter?.image?.image ?? '';
      const all = wanted === '' ? [...new Set(state.images.values())] : [lookUp(state, wanted)];
      return { images: all.filter((image) => image !== undefined) };
    },
    imageStatus: ({ image }) => ({ image: lookUp(state, image?.image ?? ''), info: {} }),
    pullImage: ({ image }) => {
      const name = image?.image ?? '';
      if (!registry(name)) throw new CriError('NOT_FOUND', `no registry has ${name}`);
      return { imageRef: addImage(state, name).id };
    },
    removeImage: ({ image }) => {
      const found = lookUp(state, image?.image ?? '');
      for (const [name, each] of state.images) if (each === found) state.images.delete(name);
      return {};
    },
    imageFsInfo: () => ({
      imageFilesystems: [
        {
          timestamp: nowNanoseconds(context.clock),
          fsId: { mountpoint: '/' },
          usedBytes: { value: [...new Set(state.images.values())].reduce((sum, { size }) => sum + size, 0n) },
          inodesUsed: { value: 0n },
        },
      ],
      containerFilesystems: [],
    }),
  };
}

export function addImage({ images }: FakeState, name: string): Image {
  const complete = completeName(name);
  const known = images.get(complete);
  if (known !== undefined) return known;
  const id = `sha256:${createHash('sha256').update(complete).digest('hex')}`;
  const image = Image.fromPartial({ id, repoTags: [complete], size: 1_000_000n });
  images.set(complete, image).set(id, image);
  return image;
}

const lookUp = ({ images }: FakeState, name: string): Image | undefined => images.get(completeName(name));

export function findImage(state: FakeState, name: string): Image {
  const image = lookUp(state, name);
  if (image === undefined) throw new CriError('NOT_FOUND', `there is no image ${name}`);
  return image;
}
