/** Names of images (grammar of the OCI distribution specification, with Docker's defaults). */

export interface ImageName {
  /** `docker.io`, `registry.example:5000`. */
  readonly registry: string;
  /** `library/busybox`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const part = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const registryForm =
  /^(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const tagForm = /^\w[\w.-]{0,127}$/;
const digestForm = /^[a-zA-Z][a-zA-Z0-9]*(?:[-_+.][a-zA-Z][a-zA-Z0-9]*)*:[0-9a-fA-F]{32,}$/;
const longestRepository = 255;

/** @returns undefined when it cannot be a name; what is left out is Docker Hub, its `library`, and the tag `latest` */
export function parseImageName(text: string): ImageName | undefined {
  const [rest = '', digest, ...more] = text.split('@');
  // A colon before the last slash belongs to the registry's port.
  const colon = rest.indexOf(':', rest.lastIndexOf('/') + 1);
  const tag = colon === -1 ? undefined : rest.slice(colon + 1);
  const place = splitRegistry(colon === -1 ? rest : rest.slice(0, colon));
  const isValid =
    more.length === 0 &&
    isPlace(place) &&
    (tag === undefined || tagForm.test(tag)) &&
    (digest === undefined || digestForm.test(digest));
  if (!isValid) return undefined;
  return { ...place, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

type Place = Pick<ImageName, 'registry' | 'repository'>;

function splitRegistry(name: string): Place {
  const slash = name.indexOf('/');
  const first = name.slice(0, slash);
  const hasRegistry = slash !== -1 && (/[.:A-Z[]/.test(first) || first === 'localhost');
  const registry = hasRegistry && first !== 'index.docker.io' ? first : 'docker.io';
  const repository = hasRegistry ? name.slice(slash + 1) : name;
  const isOfficial = registry === 'docker.io' && !repository.includes('/');
  return { registry, repository: isOfficial ? `library/${repository}` : repository };
}

function isPlace({ registry, repository }: Place): boolean {
  return (
    registryForm.test(registry) &&
    registry.length + 1 + repository.length <= longestRepository &&
    repository.split('/').every((each) => part.test(each))
  );
}

/** The name in full, for people: `busybox` is `docker.io/library/busybox:latest`. What is no name stays as it is. */
export function showImageName(text: string): string {
  const name = parseImageName(text);
  if (name === undefined) return text;
  const tag = name.tag ?? (name.digest === undefined ? 'latest' : undefined);
  const digest = name.digest === undefined ? '' : `@${name.digest}`;
  return `${name.registry}/${name.repository}${tag === undefined ? '' : `:${tag}`}${digest}`;
}
