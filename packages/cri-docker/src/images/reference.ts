/** Names of images, as Docker reads them: `[DOMAIN/]PATH[:TAG][@DIGEST]`. */
import { CriError } from '@podwire/cri';

export interface ImageReference {
  /** With the domain in front: `docker.io/library/busybox`. What credentials are looked up by. */
  readonly repository: string;
  /** To be pulled: always with a tag or digest, since Docker pulls every tag otherwise. */
  readonly full: string;
}

const pattern =
  /^((?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?(?:\/[a-z0-9._/-]+)?|[a-z0-9._/-]+)(?::([\w][\w.-]{0,127}))?(@[a-z0-9]+:[0-9a-fA-F]{32,})?$/;

/** @throws CriError INVALID_ARGUMENT */
export function parseImageName(name: string): ImageReference {
  const { path, tag, digest } = splitName(name);
  const repository = normalizeRepository(path);
  const suffix =
    digest === '' ? `:${tag === '' ? 'latest' : tag}` : `${tag === '' ? '' : `:${tag}`}${digest}`;
  return { repository, full: `${path}${suffix}` };
}

function splitName(name: string): { path: string; tag: string; digest: string } {
  const at = name.indexOf('@');
  const digest = at < 0 ? '' : name.slice(at);
  const rest = at < 0 ? name : name.slice(0, at);
  const colon = rest.lastIndexOf(':');
  // A colon before a slash belongs to the port of the registry.
  const hasTag = colon > rest.lastIndexOf('/');
  const path = hasTag ? rest.slice(0, colon) : rest;
  if (path === '' || /[\s\\]|^\/|\/$/.test(path) || !pattern.test(name)) {
    throw new CriError('INVALID_ARGUMENT', `${JSON.stringify(name)} is no name of an image`);
  }
  return { path, tag: hasTag ? rest.slice(colon + 1) : '', digest };
}

/** Without a domain it is Docker Hub's, and there a single word is below `library/`. */
function normalizeRepository(path: string): string {
  const [first = '', ...rest] = path.split('/');
  const isDomain =
    rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  if (!isDomain) return `docker.io/${rest.length === 0 ? `library/${path}` : path}`;
  if (first !== 'index.docker.io' && first !== 'docker.io') return path;
  return `docker.io/${rest.length === 1 ? `library/${rest[0]}` : rest.join('/')}`;
}
