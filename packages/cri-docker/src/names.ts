/**
 * Names of Docker containers, as dockershim gave them: `k8s_POD_<pod>_<namespace>_<uid>_<attempt>` for a sandbox, the
 * container's own name in the place of POD for the others. A part cannot contain `_`, since names in Kubernetes are DNS labels.
 */
import { CriError, type ContainerMetadata, type PodSandboxMetadata } from '@podwire/cri';

const prefix = 'k8s';
export const sandboxContainerName = 'POD';

/** @throws CriError INVALID_ARGUMENT where a part is missing or has a character that Docker does not take */
export function makeSandboxName(sandbox: PodSandboxMetadata | undefined): string {
  const { name, namespace, uid, attempt } = sandbox ?? { name: '', namespace: '', uid: '', attempt: 0 };
  return join(sandboxContainerName, { name, namespace, uid }, attempt);
}

/** @throws CriError INVALID_ARGUMENT */
export function makeContainerName(
  sandbox: Pick<PodSandboxMetadata, 'name' | 'namespace' | 'uid'> | undefined,
  container: ContainerMetadata | undefined,
): string {
  checkPart('container name', container?.name ?? '');
  return join(
    container?.name ?? '',
    sandbox ?? { name: '', namespace: '', uid: '' },
    container?.attempt ?? 0,
  );
}

type Pod = Pick<PodSandboxMetadata, 'name' | 'namespace' | 'uid'>;

function join(first: string, { name, namespace, uid }: Pod, attempt: number): string {
  checkPart('pod name', name);
  checkPart('pod namespace', namespace);
  checkPart('pod uid', uid);
  return [prefix, first, name, namespace, uid, attempt].join('_');
}

function checkPart(what: string, part: string): void {
  if (/^[A-Za-z0-9.-]+$/.test(part)) return;
  const why =
    part === '' ? 'is missing' : `${JSON.stringify(part)} has characters beyond letters, digits, - and .`;
  throw new CriError('INVALID_ARGUMENT', `the ${what} ${why}`);
}

export interface ParsedName {
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
}

/** The parts of such a name; a leading slash and a suffix from conflict recovery are fine. Undefined for any other name. */
export function parseName(text: string | undefined): ParsedName | undefined {
  const [head, container, pod, namespace, uid, attempt] = (text ?? '').replace(/^\//, '').split('_');
  if (head !== prefix || container === undefined || pod === undefined) return undefined;
  if (namespace === undefined || uid === undefined || !/^\d+$/.test(attempt ?? '')) return undefined;
  return { container, pod, namespace, uid, attempt: Number(attempt) };
}

/** Key of a pod's lock. */
export const podKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Eight hexadecimal digits. */
export function randomSuffix(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(4)).toString('hex');
}
