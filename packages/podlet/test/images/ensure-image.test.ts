import {
  CriError,
  Image,
  type ImageStatusRequest,
  PodSandboxConfig,
  type PullImageRequest,
} from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import { createEnsureImage, type EnsureImageOptions, readImageUser } from '../../src/images/ensure-image.js';
import type { PullPolicy } from '@podwire/pod-spec';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const live = new AbortController().signal;
const auth = (username: string) => ({
  username,
  password: 'p',
  auth: '',
  serverAddress: '',
  identityToken: '',
  registryToken: '',
});

/** A runtime with some images, whose pulls end when the test says so or at once. */
function makeImages(
  present: string[],
  pull: (request: PullImageRequest, signal: AbortSignal) => Promise<string>,
) {
  const pulls: PullImageRequest[] = [];
  return {
    pulls,
    imageStatus: ({ image }: ImageStatusRequest) => {
      const name = image!.image;
      if (name === 'broken') return Promise.reject(new CriError('UNAVAILABLE', 'gone fishing'));
      if (name === 'strange') return Promise.reject(new CriError('NOT_FOUND', 'not here'));
      const found = present.includes(name) ? Image.fromPartial({ id: `id-${name}` }) : undefined;
      return Promise.resolve({ ...(found && { image: found }), info: {} });
    },
    pullImage: async (request: PullImageRequest, options?: { signal?: AbortSignal }) => {
      pulls.push(request);
      return { imageRef: await pull(request, options!.signal!) };
    },
  };
}

const pullAll = (request: PullImageRequest) => Promise.resolve(`pulled-${request.image!.image}`);
type Images = ReturnType<typeof makeImages>;

function ensure(
  images: Images,
  image: string,
  imagePullPolicy: PullPolicy,
  {
    options = {},
    signal = live,
    run = createEnsureImage(options),
  }: {
    options?: EnsureImageOptions;
    signal?: AbortSignal;
    run?: ReturnType<typeof createEnsureImage>;
  } = {},
) {
  const container = makeContainer({ image, imagePullPolicy });
  return run(
    images,
    makePod({ containers: [container] }),
    container,
    PodSandboxConfig.fromPartial({}),
    signal,
  );
}

describe('policies', () => {
  test.each([
    ['Always', 'here', 'pulled-here', 1],
    ['Always', 'away', 'pulled-away', 1],
    ['IfNotPresent', 'here', 'id-here', 0],
    ['IfNotPresent', 'away', 'pulled-away', 1],
    ['IfNotPresent', 'strange', 'pulled-strange', 1],
    ['Never', 'here', 'id-here', 0],
  ] as const)('%s, %s', async (policy, image, ref, count) => {
    const images = makeImages(['here'], pullAll);
    expect(await ensure(images, image, policy)).toBe(ref);
    expect(images.pulls).toHaveLength(count);
  });

  test.each([
    ['Never', 'away', 'ErrImageNeverPull', /docker\.io\/library\/away:latest/],
    ['Always', 'No Name', 'InvalidImageName', /no name of an image/],
    ['IfNotPresent', 'broken', 'ImageInspectError', /gone fishing/],
  ] as const)('%s, %s: %s', async (policy, image, reason, message) => {
    const images = makeImages([], pullAll);
    await expect(ensure(images, image, policy)).rejects.toMatchObject({
      code: 'IMAGE_UNAVAILABLE',
      details: { reason, image, container: 'main' },
      message: expect.stringMatching(message) as string,
    });
    expect(images.pulls).toEqual([]);
  });

  test.each([
    ['no such host', 'ErrImagePull'],
    ['RegistryUnavailable: no such host', 'RegistryUnavailable'],
    ['rpc error: SignatureValidationFailed: who signed this?', 'SignatureValidationFailed'],
  ])('a pull that fails with %j: %s', async (words, reason) => {
    const images = makeImages([], () => Promise.reject(new CriError('UNKNOWN', words)));
    const failed = ensure(images, 'away', 'Always');
    await expect(failed).rejects.toMatchObject({ details: { reason } });
    await expect(failed).rejects.toThrow(words);
  });
});

describe('credentials', () => {
  const withUsers = (...users: string[]) => ({ credentials: () => Promise.resolve(users.map(auth)) });
  const onlyGood = (request: PullImageRequest) =>
    request.auth?.username === 'good'
      ? pullAll(request)
      : Promise.reject(new CriError('UNAUTHENTICATED', `no to ${request.auth?.username ?? 'nobody'}`));
  const tried = ({ pulls }: Images) => pulls.map((request) => request.auth?.username);

  test('are tried in order until one is good', async () => {
    const images = makeImages([], onlyGood);
    expect(await ensure(images, 'app', 'Always', { options: withUsers('bad', 'good', 'spare') })).toBe(
      'pulled-app',
    );
    expect(tried(images)).toEqual(['bad', 'good']);
  });

  test('none is anonymous', async () => {
    const images = makeImages([], pullAll);
    await ensure(images, 'app', 'Always');
    expect(tried(images)).toEqual([undefined]);
  });

  test('when all are bad, each is told', async () => {
    const failed = ensure(makeImages([], onlyGood), 'app', 'Always', { options: withUsers('a', 'b') });
    await expect(failed).rejects.toThrow(/no credential was good: no to a; no to b/);
  });

  test('that cannot be read are a reason', async () => {
    const options = { credentials: () => Promise.reject(new Error('x.json is no docker configuration')) };
    await expect(ensure(makeImages([], pullAll), 'app', 'Always', { options })).rejects.toMatchObject({
      details: { reason: 'ErrImagePull' },
      message: expect.stringContaining('x.json') as string,
    });
  });
});

describe('several at once', () => {
  function slow() {
    const ends: ((ref: string) => void)[] = [];
    const signals: AbortSignal[] = [];
    const images = makeImages([], (_, signal) => {
      signals.push(signal);
      return new Promise((resolve, reject) => {
        ends.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    return { images, ends, signals };
  }
  const settle = () => new Promise(setImmediate);

  test('one image is pulled once, also for who comes later', async () => {
    const { images, ends } = slow();
    const run = createEnsureImage();
    const first = ensure(images, 'app', 'Always', { run });
    await settle();
    const second = ensure(images, 'app', 'IfNotPresent', { run });
    await settle();
    expect(images.pulls).toHaveLength(1);
    ends[0]!('ref');
    expect(await Promise.all([first, second])).toEqual(['ref', 'ref']);
    void ensure(images, 'app', 'Always', { run });
    await settle();
    expect(images.pulls).toHaveLength(2);
  });

  test('a caller that leaves does not affect the others; the last one cancels the pull', async () => {
    const { images, signals, ends } = slow();
    const run = createEnsureImage();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = ensure(images, 'app', 'Always', { run, signal: one.signal });
    const second = ensure(images, 'app', 'Always', { run, signal: two.signal });
    await settle();
    one.abort(new Error('first goes'));
    await expect(first).rejects.toThrow('first goes');
    expect(signals[0]!.aborted).toBe(false);
    two.abort(new Error('second goes'));
    await expect(second).rejects.toThrow('second goes');
    expect(signals[0]!.aborted).toBe(true);

    const third = ensure(images, 'app', 'Always', { run });
    await settle();
    ends[1]!('anew');
    expect(await third).toBe('anew');
  });

  test('other images are pulled beside it, up to a number', async () => {
    const { images, ends } = slow();
    const run = createEnsureImage({ parallel: 2 });
    const all = ['a', 'b', 'c'].map((image) => ensure(images, image, 'Always', { run }));
    await settle();
    expect(images.pulls).toHaveLength(2);
    ends[0]!('first');
    await settle();
    expect(images.pulls).toHaveLength(3);
    ends[1]!('second');
    ends[2]!('third');
    expect(await Promise.all(all)).toEqual(['first', 'second', 'third']);
  });
});

test.each([
  ['a number', { id: 'x', uid: { value: 33n } }, { uid: 33 }],
  ['a name', { id: 'x', username: 'www' }, { username: 'www' }],
  ['root', { id: 'x' }, {}],
])('the user of an image: %s', async (_, image, user) => {
  const runtime = { imageStatus: () => Promise.resolve({ image: Image.fromPartial(image), info: {} }) };
  expect(await readImageUser(runtime, 'x', {})).toEqual(user);
});
