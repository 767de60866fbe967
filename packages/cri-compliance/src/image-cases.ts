import assert from 'node:assert/strict';
import type { ImageSpec } from '@podwire/cri';
import type { ComplianceCase } from './target.js';

const spec = (image: string): ImageSpec => ({
  image,
  annotations: {},
  userSpecifiedImage: '',
  runtimeHandler: '',
});
const absent = spec('podwire.test/no-such-image:1');

export const imageCases: readonly ComplianceCase[] = [
  {
    title: 'an image that is there has an id, a name and a size',
    needs: [],
    run: async ({ runtime, image }) => {
      const { image: found } = await runtime.imageStatus({ image: spec(image), verbose: false });
      assert.ok(found !== undefined && found.id !== '' && found.size > 0n);
      assert.ok(found.repoTags.some((tag) => tag === image || tag.endsWith(`/${image}`)));
      const byId = await runtime.imageStatus({ image: spec(found.id), verbose: false });
      assert.equal(byId.image?.id, found.id);
    },
  },
  {
    title: 'an image that is not there is no error, and is removed without one',
    needs: [],
    run: async ({ runtime }) => {
      assert.equal((await runtime.imageStatus({ image: absent, verbose: false })).image, undefined);
      await runtime.removeImage({ image: absent });
    },
  },
  {
    title: 'lists of images have all that are there',
    needs: [],
    run: async ({ runtime, image }) => {
      const { image: one } = await runtime.imageStatus({ image: spec(image), verbose: false });
      const { images } = await runtime.listImages({});
      assert.ok(images.some(({ id }) => id === one?.id));
    },
  },
  {
    title: 'lists of images have those of a name only, when asked',
    needs: ['image filter'],
    run: async ({ runtime, image }) => {
      const all = (await runtime.listImages({})).images;
      const those = (await runtime.listImages({ filter: { image: spec(image) } })).images;
      assert.equal(those.length, 1);
      assert.ok(all.some(({ id }) => id === those[0]?.id));
      assert.deepEqual((await runtime.listImages({ filter: { image: absent } })).images, []);
    },
  },
  {
    title: 'an image that was removed is gone',
    needs: ['removable image'],
    run: async ({ runtime, removableImage }) => {
      if (removableImage === undefined) assert.fail('the target names none');
      const image = spec(removableImage);
      assert.ok((await runtime.imageStatus({ image, verbose: false })).image);
      await runtime.removeImage({ image });
      assert.equal((await runtime.imageStatus({ image, verbose: false })).image, undefined);
      await runtime.removeImage({ image });
    },
  },
  {
    title: 'a request without an image is refused',
    needs: [],
    run: async ({ runtime }) => {
      await assert.rejects(runtime.pullImage({}));
    },
  },
  {
    title: 'the file system of the images is known',
    needs: ['stats'],
    run: async ({ runtime }) => {
      const { imageFilesystems } = await runtime.imageFsInfo({});
      assert.ok(imageFilesystems.length > 0);
      assert.notEqual(imageFilesystems[0]?.fsId?.mountpoint ?? '', '');
    },
  },
];
