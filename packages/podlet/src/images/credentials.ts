/** Credentials for registries from files as `docker login` writes them, and as pull secrets hold them. */
import type { AuthConfig } from '@podwire/cri';
import { readIfExists } from '@podwire/platform';
import path from 'node:path';
import type { Pod } from '@podwire/pod-spec';
import { parseImageName } from './image-name.js';

/** In the order in which they are to be tried; none is anonymous. */
export type FindCredentials = (image: string, pod: Pod) => Promise<readonly AuthConfig[]>;

export interface CredentialOptions {
  /** Files for all pods, each a dockerconfigjson or dockercfg. */
  readonly files: readonly string[];
  /** For `imagePullSecrets`; none is found when absent. */
  readonly findPullSecret?: FindPullSecret;
}

/**
 * The text of a pod's pull secret, a dockerconfigjson or dockercfg. Undefined where there is none: the pull goes on without it, as the
 * kubelet has it.
 */
export type FindPullSecret = (pod: Pod, name: string) => Promise<string | undefined>;

export const anonymous: FindCredentials = () => Promise.resolve([]);

/** The pod's own secrets come first. Files are read at every pull, so that a new password counts at once. */
export function createCredentials({ files, findPullSecret }: CredentialOptions): FindCredentials {
  return async (image, pod) => {
    const secrets = pod.spec.imagePullSecrets.map(async ({ name }) =>
      parse(`the pull secret ${name}`, await findPullSecret?.(pod, name)),
    );
    const all = [...secrets, ...files.map(async (file) => parse(file, await readIfExists(file)))];
    return (await Promise.all(all)).flatMap((each) => matchCredentials(each, image));
  };
}

/** Secrets of pods that no API server has: `<directory>/<namespace>/<name>.json`, each as `docker login` writes them. */
export function createPullSecretFiles(directory: string): FindPullSecret {
  return ({ metadata: { namespace } }, name) => {
    // The names come from a manifest, which may say `../..`.
    const isSafe = [namespace, name].every((each) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(each));
    return isSafe
      ? readIfExists(path.join(directory, namespace, `${name}.json`))
      : Promise.resolve(undefined);
  };
}

export interface CredentialEntry {
  /** `registry.example:5000/team`, with `*` for parts of a host name. */
  readonly key: string;
  readonly auth: AuthConfig;
}

/** A file that is not there has no credentials, as the kubelet has it. */
function parse(what: string, text: string | undefined): readonly CredentialEntry[] {
  if (text === undefined) return [];
  try {
    return parseDockerConfig(text);
  } catch (error) {
    throw new Error(`${what} is no docker configuration`, { cause: error });
  }
}

/** @throws Error without any of the content */
export function parseDockerConfig(text: string): readonly CredentialEntry[] {
  const root = asRecord(parseJson(text));
  const auths = 'auths' in root ? asRecord(root['auths'] ?? {}) : root;
  return Object.entries(auths).flatMap(([key, value]) => readEntry(key, value));
}

/** The message of the parser would quote what is secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error('it is no JSON object of registries');
}

/** An entry without password and token names a credential helper, which is not used. */
function readEntry(key: string, value: unknown): CredentialEntry[] {
  if (typeof value !== 'object' || value === null) return [];
  const entry = value as Record<string, unknown>;
  const text = (name: string) => (typeof entry[name] === 'string' ? entry[name] : '');
  const [username, password] =
    text('auth') === '' ? [text('username'), text('password')] : decode(text('auth'));
  const tokens = { identityToken: text('identitytoken'), registryToken: text('registrytoken') };
  if (password === '' && tokens.identityToken === '' && tokens.registryToken === '') return [];
  return [{ key, auth: { username, password, auth: '', serverAddress: key, ...tokens } }];
}

/** Base64 with or without padding; a password may contain colons. */
function decode(auth: string): [string, string] {
  const text = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = text.indexOf(':');
  return colon === -1 ? ['', ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** Those for this image, the longest path first. */
export function matchCredentials(entries: readonly CredentialEntry[], image: string): AuthConfig[] {
  const name = parseImageName(image);
  if (name === undefined) return [];
  return entries
    .map(({ key, auth }) => ({ place: splitKey(key), auth }))
    .filter(({ place }) => matchesHost(place.host, name.registry) && matchesPath(place.path, name.repository))
    .sort((a, b) => b.place.path.length - a.place.path.length)
    .map(({ auth }) => auth);
}

interface KeyPlace {
  readonly host: string;
  readonly path: string;
}

/** `https://index.docker.io/v1/` is how Docker Hub is called; `/v1/` and `/v2/` are no part of a repository. */
function splitKey(key: string): KeyPlace {
  const [host = '', ...parts] = key.replace(/^https?:\/\//, '').split('/');
  const path = parts.filter((each) => each !== '');
  if (path[0] === 'v1' || path[0] === 'v2') path.shift();
  return { host: host === 'index.docker.io' ? 'docker.io' : host, path: path.join('/') };
}

/** Same port, same number of labels, each equal or matched by its `*`. */
function matchesHost(pattern: string, host: string): boolean {
  const [name = '', port] = pattern.split(/:(?=\d+$)/);
  const [otherName = '', otherPort] = host.split(/:(?=\d+$)/);
  const [labels, others] = [name.split('.'), otherName.split('.')];
  if (port !== otherPort || labels.length !== others.length) return false;
  return labels.every((label, index) => matchesLabel(label, others[index]!));
}

function matchesLabel(pattern: string, label: string): boolean {
  const literal = pattern.split('*').map((each) => each.replace(/[^\w-]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 'i').test(label);
}

function matchesPath(prefix: string, repository: string): boolean {
  return prefix === '' || repository === prefix || repository.startsWith(`${prefix}/`);
}
