import { PodwireError } from '@podwire/errors';
import type { PodView } from '../contract.js';
import type { PodletApi } from './api.js';

/** Of two of the same name, the one that is not on its way out. @throws PodwireError POD_UNKNOWN */
export function findPod(api: Pick<PodletApi, 'pods'>, namespace: string, name: string): PodView {
  const found = api.pods().filter((pod) => pod.namespace === namespace && pod.name === name);
  const pod = found.find(({ stage }) => stage !== 'terminating' && stage !== 'terminated') ?? found[0];
  if (pod !== undefined) return pod;
  throw new PodwireError('POD_UNKNOWN', `there is no pod ${namespace}/${name}`);
}
