/** IP objects of those who have addresses. Pure. */
import { compact } from '@podwire/platform';
import type { Allocation } from '../allocation/subnet-addresses.js';
import { nodePortName, podPortName } from '../topology/names.js';
import { selectPortAnnotations } from './annotations.js';
import type { IpObject, PodObject } from './contract.js';

export function ipOfPod(pod: PodObject, subnet: string, { addresses, mac }: Allocation): IpObject {
  const { namespace, name: podName, uid: podUid, node, statefulSet } = pod;
  return {
    ...{ name: podPortName(namespace, podName), namespace, podName, podUid },
    ...{ ...compact({ node, statefulSet }), subnet, addresses, mac },
    portAnnotations: selectPortAnnotations(pod.annotations),
  };
}

export const ipOfNode = (name: string, subnet: string, { addresses, mac }: Allocation): IpObject => ({
  ...{ name: nodePortName(name), namespace: '', podName: name, node: name },
  ...{ subnet, addresses, mac },
});
