import {
  type AuthConfig,
  type CallOptions,
  type CriRuntime,
  isCriError,
  type PodSandboxConfig,
} from '@podwire/cri';
import { describeError, PodwireError } from '@podwire/errors';
import { Semaphore, Singleflight } from '@podwire/platform';
import type { EnsureImage, ImageUser } from '../parts.js';
import type { Container } from '@podwire/pod-spec';
import { anonymous, type FindCredentials } from './credentials.js';
import { parseImageName, showImageName } from './image-name.js';

export interface EnsureImageOptions {
  readonly credentials?: FindCredentials;
  /** Pulls at once. */
  readonly parallel?: number;
  /** Milliseconds for one pull; an image can be large and a line slow. */
  readonly pullTimeoutMs?: number;
}

/** Reasons as the kubelet shows them. ImagePullBackOff is the caller's: it knows when it tries again. */
export type ImageReason =
  | 'InvalidImageName'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'ErrImagePull'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed';

type Images = Parameters<EnsureImage>[0];

/** @returns a function that several containers may call at once: pulls of one image with the same credentials are one pull. */
export function createEnsureImage(options: EnsureImageOptions = {}): EnsureImage {
  const { credentials = anonymous, parallel = 4, pullTimeoutMs = 3_600_000 } = options;
  const slots = new Semaphore(parallel);
  const pulls = new Singleflight<string>();
  return async (runtime, pod, container, sandbox, signal) => {
    const { image } = container;
    if (parseImageName(image) === undefined)
      throw failure(container, 'InvalidImageName', 'it is no name of an image');
    const present = await findWanted(runtime, container, signal);
    if (present !== undefined) return present;
    const auths = await findCredentials(() => credentials(image, pod), container);
    const key = JSON.stringify([image, auths]);
    const pull = (joined: AbortSignal) =>
      slots.run(() => pullWithAny({ runtime, container, sandbox, auths, pullTimeoutMs }, joined), joined);
    return pulls.join(key, signal, pull);
  };
}

async function findWanted(
  runtime: Images,
  container: Container,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (container.imagePullPolicy === 'Always') return undefined;
  const present = await findImage(runtime, container, { signal });
  if (present === undefined && container.imagePullPolicy === 'Never') {
    throw failure(container, 'ErrImageNeverPull', 'it is not on this node, and imagePullPolicy is Never');
  }
  return present;
}

async function findImage(
  runtime: Images,
  container: Container,
  options: CallOptions,
): Promise<string | undefined> {
  try {
    const { image } = await runtime.imageStatus(
      { image: imageSpec(container.image), verbose: false },
      options,
    );
    return image === undefined || image.id === '' ? undefined : image.id;
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return undefined;
    options.signal?.throwIfAborted();
    throw failure(container, 'ImageInspectError', 'the runtime cannot say whether it is there', error);
  }
}

function imageSpec(image: string) {
  return { image, annotations: {}, userSpecifiedImage: image, runtimeHandler: '' };
}

async function findCredentials(
  find: () => Promise<readonly AuthConfig[]>,
  container: Container,
): Promise<readonly AuthConfig[]> {
  try {
    return await find();
  } catch (error) {
    throw failure(container, 'ErrImagePull', 'its credentials cannot be read', error);
  }
}

interface Pull {
  readonly runtime: Images;
  readonly container: Container;
  readonly sandbox: PodSandboxConfig;
  readonly auths: readonly AuthConfig[];
  readonly pullTimeoutMs: number;
}

/** Without credentials anonymously, else with each in turn until one is good. */
async function pullWithAny(pull: Pull, signal: AbortSignal): Promise<string> {
  const errors: unknown[] = [];
  for (const auth of pull.auths.length === 0 ? [undefined] : pull.auths) {
    try {
      return await pullOnce(pull, auth, signal);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  const cause = errors.length === 1 ? errors[0] : new AggregateError(errors, 'no credential was good');
  throw failure(pull.container, pullReason(errors.at(-1)), 'the pull failed', cause);
}

async function pullOnce(
  { runtime, container, sandbox, pullTimeoutMs }: Pull,
  auth: AuthConfig | undefined,
  signal: AbortSignal,
): Promise<string> {
  const request = { image: imageSpec(container.image), auth, sandboxConfig: sandbox };
  const { imageRef } = await runtime.pullImage(request, { signal, timeoutMs: pullTimeoutMs });
  return imageRef;
}

/** Runtimes put these words first where the cause is one of them (cri-api, errors). */
function pullReason(error: unknown): ImageReason {
  const words = error instanceof Error ? error.message : '';
  const known = (['RegistryUnavailable', 'SignatureValidationFailed'] as const).find((each) =>
    words.includes(each),
  );
  return known ?? 'ErrImagePull';
}

function failure(container: Container, reason: ImageReason, why: string, cause?: unknown): PodwireError {
  const words = cause === undefined ? why : `${why}: ${describeError(cause)}`;
  const message = `image ${showImageName(container.image)}: ${words}`;
  return new PodwireError('IMAGE_UNAVAILABLE', message, {
    details: { reason, image: container.image, container: container.name },
    ...(cause !== undefined && { cause }),
  });
}

/** Whom an image runs as, for runAsNonRoot. @returns undefined when the runtime does not have the image */
export async function readImageUser(
  runtime: Pick<CriRuntime, 'imageStatus'>,
  imageRef: string,
  options: CallOptions,
): Promise<ImageUser | undefined> {
  const { image } = await runtime.imageStatus({ image: imageSpec(imageRef), verbose: false }, options);
  if (image === undefined) return undefined;
  if (image.uid !== undefined) return { uid: Number(image.uid.value) };
  return image.username === '' ? {} : { username: image.username };
}
