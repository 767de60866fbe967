/** Having an image: looking whether it is there, and pulling it with the credentials that may fit. */
import { type AuthConfig, CriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { type Clock, type Log, orUndefined } from '@podwire/platform';
import type { Work } from '../call.js';
import {
  type Docker,
  DockerError,
  type InspectedImage,
  isNotFound,
  type RegistryAuth,
} from '../docker/index.js';
import { type CredentialStore } from './credential-files.js';
import { decodeAuth } from './credentials.js';
import { parseImageName } from './reference.js';

export interface ImagePuller {
  /** Pulls only what is not there. */
  ensure(name: string, work: Work): Promise<void>;
  /** @returns the digest of the image, or its id. @throws CriError */
  pull(name: string, auth: AuthConfig | undefined, work: Work): Promise<string>;
  /** Undefined where there is none. */
  inspect(name: string, signal: AbortSignal): Promise<InspectedImage | undefined>;
}

export interface PullEnvironment {
  readonly docker: Docker;
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds without any news from the registry after which a pull is given up. A pull as a whole may take any time. */
const patience = 60_000;

export function createImagePuller(environment: PullEnvironment): ImagePuller {
  const { docker } = environment;
  const self: ImagePuller = {
    async ensure(name, work) {
      if ((await self.inspect(name, work.signal)) === undefined) await self.pull(name, undefined, work);
    },
    inspect: (name, signal) =>
      orUndefined(docker.inspectImage(name, { signal }), isNotFound).catch((cause: unknown) => {
        throw new Error(`the image ${name} cannot be inspected: ${describeError(cause)}`, { cause });
      }),
    async pull(name, auth, work) {
      const reference = parseImageName(name);
      const candidates = await findCandidates(environment, reference.repository, auth, work.signal);
      await pullWithAny(environment, reference.full, candidates, work);
      const image = await self.inspect(reference.full, work.signal);
      if (image === undefined)
        throw new CriError('NOT_FOUND', `the image ${name} was pulled and is not there`);
      return findDigest(image, reference.repository) ?? imageRefOf(image);
    },
  };
  return self;
}

/** The permanent name of an image: a digest of a registry where there is one, else its id. */
export function imageRefOf({ Id, RepoDigests }: InspectedImage): string {
  return RepoDigests?.[0] ?? Id;
}

/** An image may have come from several repositories; the digest is the same, its name is that of the one asked for. */
function findDigest({ RepoDigests }: InspectedImage, repository: string): string | undefined {
  return RepoDigests?.find(
    (digest) => digest.includes('@') && parseImageName(digest).repository === repository,
  );
}

/** Those of the request before those of the node; none at all is an anonymous pull. */
async function findCandidates(
  { credentials }: PullEnvironment,
  repository: string,
  auth: AuthConfig | undefined,
  signal: AbortSignal,
): Promise<readonly (RegistryAuth | undefined)[]> {
  const given = toRegistryAuth(auth);
  const found = [
    ...(given === undefined ? [] : [given]),
    ...(await credentials.keyring(signal)).lookup(repository),
  ];
  return found.length === 0 ? [undefined] : found;
}

function toRegistryAuth(auth: AuthConfig | undefined): RegistryAuth | undefined {
  if (auth === undefined) return undefined;
  const pair = auth.auth === '' || auth.username !== '' ? auth : decodeAuth('the request', auth.auth);
  const { identityToken, registryToken, serverAddress } = auth;
  if (pair.username === '' && pair.password === '' && identityToken === '' && registryToken === '')
    return undefined;
  return {
    ...{ username: pair.username, password: pair.password, serveraddress: serverAddress },
    ...(identityToken === '' ? {} : { identitytoken: identityToken }),
    ...(registryToken === '' ? {} : { registrytoken: registryToken }),
  };
}

/** The first that succeeds counts. @throws what the only one said, or an AggregateError in the order of the attempts */
async function pullWithAny(
  environment: PullEnvironment,
  name: string,
  candidates: readonly (RegistryAuth | undefined)[],
  work: Work,
): Promise<void> {
  const errors: unknown[] = [];
  for (const auth of candidates) {
    const span = work.span.child('pull', { image: name, credentials: auth !== undefined });
    try {
      await pullOnce(environment, name, auth, work.signal);
      span.end();
      return;
    } catch (error) {
      span.end(error);
      work.signal.throwIfAborted();
      environment.log.warn({ image: name, why: describeError(error) }, 'a pull failed');
      errors.push(error);
    }
  }
  throw errors.length === 1
    ? errors[0]
    : new AggregateError(errors, `failed to pull ${name} with any credentials`);
}

async function pullOnce(
  { docker, clock }: PullEnvironment,
  name: string,
  auth: RegistryAuth | undefined,
  signal: AbortSignal,
): Promise<void> {
  const watch = watchProgress(clock, name);
  const either = AbortSignal.any([signal, watch.signal]);
  try {
    const messages = await docker.pullImage(name, auth, { signal: either, timeoutMs: patience * 10 });
    for await (const message of messages) {
      if (message.error !== undefined || message.errorDetail !== undefined) {
        throw new DockerError(0, message.errorDetail?.message ?? message.error ?? 'the pull failed');
      }
      watch.news(JSON.stringify(message));
    }
  } catch (error) {
    either.throwIfAborted(); // Node's own error only says that the connection ended
    throw error;
  } finally {
    watch.end();
  }
}

interface Watch {
  readonly signal: AbortSignal;
  news(text: string): void;
  end(): void;
}

/** Docker repeats itself while nothing comes, so only what differs from the last word is progress. */
function watchProgress(clock: Clock, name: string): Watch {
  const over = new AbortController();
  const stalled = new AbortController();
  let last = '';
  let round = new AbortController();
  const wait = (): void => {
    round = new AbortController();
    clock.sleep(patience, AbortSignal.any([round.signal, over.signal])).then(
      () =>
        stalled.abort(new DockerError(0, `the pull of ${name} made no progress for ${patience / 1000} s`)),
      () => undefined,
    );
  };
  wait();
  return {
    signal: stalled.signal,
    news(text) {
      if (text === last) return;
      last = text;
      round.abort();
      wait();
    },
    end: () => over.abort(),
  };
}
