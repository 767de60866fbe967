/** How people name a pod: `web`, `pod/web`, `shop/web`, `pod/shop/web`. */
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodView, SourceProblem } from '@podwire/podlet';

export interface PodsView {
  readonly pods: readonly PodView[];
  readonly problems: readonly SourceProblem[];
}

export const fullName = ({ namespace, name }: Pick<PodView, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/**
 * The pod that is meant. A bare name may be in any namespace, as long as there is only one.
 * @throws PodwireError POD_UNKNOWN, REQUEST_INVALID when several are called so
 */
export async function findPod(api: LocalApi, text: string, namespace?: string): Promise<PodView> {
  const { pods } = await api.get<PodsView>('/v1/pods');
  return choosePod(pods, text, namespace);
}

export function choosePod(pods: readonly PodView[], text: string, namespace?: string): PodView {
  const bare = text.startsWith('pod/') ? text.slice('pod/'.length) : text;
  const wanted = namespace === undefined || bare.includes('/') ? bare : `${namespace}/${bare}`;
  const found = pods.filter(
    (pod) => fullName(pod) === wanted || (!wanted.includes('/') && pod.name === wanted),
  );
  const alive = found.filter(({ stage }) => stage !== 'terminating' && stage !== 'terminated');
  const names = new Set(found.map(fullName));
  if (names.size > 1) {
    throw new PodwireError('REQUEST_INVALID', `${text} may be any of ${[...names].sort().join(' ')}`, {
      action: 'Name one of them with its namespace.',
    });
  }
  const pod = alive[0] ?? found[0];
  if (pod !== undefined) return pod;
  throw new PodwireError('POD_UNKNOWN', `there is no pod ${wanted}`);
}
