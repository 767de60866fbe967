import { Container, Image, ImageFsInfoResponse } from '@podwire/cri';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createImageCollector } from '../../src/images/collect-images.js';
import {
  type GarbageRule,
  selectGarbage,
  type StoredImage,
  usualGarbageRule,
} from '../../src/images/select-garbage.js';

const now = 1_000_000_000;
const likeKubelet: GarbageRule = { ...usualGarbageRule, neverUsed: 'remove' };
const stored = (id: string, changes: Partial<StoredImage> = {}): StoredImage => ({
  id,
  names: [id],
  bytes: 10n,
  pinned: false,
  firstSeenAt: 0,
  lastUsedAt: 0,
  ...changes,
});
const select = (images: StoredImage[], usedBytes: bigint, inUse: string[] = []) =>
  selectGarbage(images, new Set(inUse), { usedBytes, capacityBytes: 100n }, likeKubelet, now).map(
    ({ id }) => id,
  );

describe('selection', () => {
  const images = [
    stored('recent', { lastUsedAt: 30 }),
    stored('never-new', { firstSeenAt: 5 }),
    stored('never-old', { firstSeenAt: 1 }),
    stored('used', { names: ['used', 'tag'], lastUsedAt: 1 }),
    stored('pinned', { pinned: true }),
    stored('young', { firstSeenAt: now - 1000 }),
  ];

  test.each([
    [0n, []],
    [84n, []],
    [85n, ['never-old']],
    [90n, ['never-old']],
    [91n, ['never-old', 'never-new']],
    [100n, ['never-old', 'never-new']],
    [1000n, ['never-old', 'never-new', 'recent']],
  ])('with %d percent used', (used, expected) => expect(select(images, used, ['tag'])).toEqual(expected));

  test('an image that was never used is kept, unless the runtime is all ours', () => {
    const chosen = selectGarbage(
      images,
      new Set(['tag']),
      { usedBytes: 100n, capacityBytes: 100n },
      usualGarbageRule,
      now,
    );
    expect(chosen.map(({ id }) => id)).toEqual(['recent']);
  });

  test('a file system without size is left alone', () => {
    expect(
      selectGarbage(images, new Set(), { usedBytes: 5n, capacityBytes: 0n }, usualGarbageRule, now),
    ).toEqual([]);
  });

  test('what is in use or pinned stays, and no more goes than is needed', () => {
    const image = fc.record({
      id: fc.uuid(),
      bytes: fc.bigInt({ min: 1n, max: 40n }),
      pinned: fc.boolean(),
      lastUsedAt: fc.nat(100),
      used: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(image), fc.bigInt({ min: 0n, max: 200n }), (facts, used) => {
        const all = facts.map(({ id, bytes, pinned, lastUsedAt }) =>
          stored(id, { bytes, pinned, lastUsedAt }),
        );
        const inUse = facts.filter((each) => each.used).map(({ id }) => id);
        const chosen = select(all, used, inUse);
        for (const id of chosen) expect(inUse).not.toContain(id);
        const sizes = chosen
          .map((id) => all.find((each) => each.id === id)!)
          .map(({ pinned, bytes }) => {
            expect(pinned).toBe(false);
            return bytes;
          });
        const sum = (values: bigint[]) => values.reduce((total, each) => total + each, 0n);
        if (used < 85n) expect(chosen).toEqual([]);
        else expect(sum(sizes.slice(0, -1)) < used - 80n || sizes.length === 0).toBe(true);
      }),
    );
  });
});

describe('collecting', () => {
  function setUp({ usedBytes = 100n, mountpoint = '/images' } = {}) {
    const images = new Map(
      ['web', 'pause', 'old', 'stuck'].map((name) => [
        `sha256:${name}`,
        Image.fromPartial({
          id: `sha256:${name}`,
          repoTags: [`docker.io/library/${name}:latest`],
          size: 10n,
        }),
      ]),
    );
    const clock = { time: now, now: () => clock.time };
    const used = new Set(['web', 'old', 'stuck']);
    const collector = createImageCollector({
      clock,
      keep: () => ['pause'],
      measure: (path) => {
        expect(path).toBe('/images');
        return Promise.resolve({ usedBytes, capacityBytes: 100n });
      },
      runtime: {
        listImages: () => Promise.resolve({ images: [...images.values()] }),
        listContainers: () =>
          Promise.resolve({
            containers: [...used].map((image) => Container.fromPartial({ image: { image } })),
          }),
        imageFsInfo: () =>
          Promise.resolve(
            ImageFsInfoResponse.fromPartial({
              imageFilesystems: mountpoint === '' ? [] : [{ fsId: { mountpoint } }],
            }),
          ),
        removeImage: ({ image }) => {
          if (image!.image === 'sha256:stuck') return Promise.reject(new Error('still referenced'));
          images.delete(image!.image);
          return Promise.resolve({});
        },
      },
    });
    return { collector, images, clock, used };
  }
  const live = new AbortController().signal;

  test('removes unused images, and goes on when one cannot be removed', async () => {
    const { collector, images, clock, used } = setUp();
    expect(await collector.collect(live)).toEqual({ removed: [], freedBytes: 0n, problems: [] });
    used.delete('old');
    used.delete('stuck');
    clock.time += usualGarbageRule.youngest;
    expect(await collector.collect(live)).toEqual({
      removed: ['sha256:old'],
      freedBytes: 10n,
      problems: ['docker.io/library/stuck:latest: still referenced'],
    });
    expect([...images.keys()]).toEqual(['sha256:web', 'sha256:pause', 'sha256:stuck']);
  });

  test('removes nothing when there is room, or usage is unknown', async () => {
    for (const facts of [{ usedBytes: 84n }, { mountpoint: '' }]) {
      const { collector, clock } = setUp(facts);
      await collector.collect(live);
      clock.time += usualGarbageRule.youngest;
      expect((await collector.collect(live)).removed).toEqual([]);
    }
  });
});
