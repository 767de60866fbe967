/** Selects the credentials that may open a repository. Pure: the entries are given. */
import type { RegistryAuth } from '../docker/index.js';
import type { CredentialEntry } from './credentials.js';

export interface Keyring {
  /** Every credential that may fit, the most special first. @param repository with its domain: `docker.io/library/busybox` */
  lookup(repository: string): readonly RegistryAuth[];
}

interface Key {
  readonly text: string;
  readonly host: readonly string[];
  readonly port: string;
  readonly path: string;
  readonly auth: RegistryAuth;
}

/** Docker Hub's key in files, under its name of old; `docker.io` does not match it by itself. */
const dockerHub = 'index.docker.io';

/** @param entries of all files and secrets, in the order in which they are tried for the same key */
export function createKeyring(entries: readonly CredentialEntry[]): Keyring {
  // In reverse, so that longer paths come before those that are the beginning of them. The sort is stable.
  const keys = entries
    .map(({ key, auth }) => parseKey(key, auth))
    .sort((a, b) => (a.text < b.text ? 1 : a.text > b.text ? -1 : 0));
  return {
    lookup(repository) {
      const fitting = keys.filter((key) => matchesKey(key, repository));
      const found = fitting.length === 0 && isDockerHub(repository) ? keys.filter(isDockerHubKey) : fitting;
      return withoutRepetitions(found.map(({ auth }) => auth));
    },
  };
}

const isDockerHub = (repository: string): boolean => repository.startsWith('docker.io/');
const isDockerHubKey = ({ text }: Key): boolean => text === dockerHub;

/** `https://host:port/v1/` is what old files have for `host:port`. */
function parseKey(key: string, auth: RegistryAuth): Key {
  const bare = key.replace(/^https?:\/\//, '');
  const { host, port, path } = splitLocation(bare);
  const trimmed = path.replace(/^\/v[12](\/|$)/, '/').replace(/\/$/, '');
  return {
    text: `${host}${port === '' ? '' : `:${port}`}${trimmed}`,
    host: host.split('.'),
    port,
    path: trimmed,
    auth,
  };
}

function splitLocation(text: string): { host: string; port: string; path: string } {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const [, host = authority, port = ''] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
  return { host, port, path: slash < 0 ? '' : text.slice(slash) };
}

/** The same port, as many labels of the host, each of which may have globs, and the beginning of the path. */
function matchesKey({ host, port, path }: Key, repository: string): boolean {
  const target = splitLocation(repository);
  const labels = target.host.split('.');
  if (port !== target.port || host.length !== labels.length || !target.path.startsWith(path)) return false;
  return host.every((glob, index) => matchesGlob(glob, labels[index]!));
}

/** `*`, `?` and `[a-z]` within one label. A key that is no pattern matches nothing but itself. */
function matchesGlob(glob: string, label: string): boolean {
  if (!/[*?[]/.test(glob)) return glob === label;
  const source = glob
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  try {
    return new RegExp(`^${source}$`).test(label);
  } catch {
    return false;
  }
}

function withoutRepetitions(list: readonly RegistryAuth[]): RegistryAuth[] {
  const seen = new Set<string>();
  return list.filter(({ serveraddress: _, ...auth }) => {
    const text = JSON.stringify(auth);
    return !seen.has(text) && seen.add(text);
  });
}
