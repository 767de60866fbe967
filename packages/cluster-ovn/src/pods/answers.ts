/** Annotations that answer a pod or node. */
import type { Allocation } from '../allocation/subnet-addresses.js';
import { annotationNames, type Annotations, writeAllocation } from './annotations.js';
import type { PodSubnet } from './contract.js';

/** As Kube-OVN writes them; lists of two families are joined by a comma. @param encapsulation `geneve` or `vxlan` */
export const answerPod = (subnet: PodSubnet, allocation: Allocation, encapsulation: string): Annotations => ({
  ...answerCommon(subnet, allocation),
  ...(subnet.underlay === undefined
    ? { [annotationNames.router]: subnet.vpc, [annotationNames.networkType]: encapsulation }
    : {
        [annotationNames.networkType]: 'vlan',
        [annotationNames.vlan]: String(subnet.underlay.vlan),
        [annotationNames.provider]: subnet.underlay.provider,
      }),
  [annotationNames.nicType]: 'veth-pair',
});

export const answerNode = (
  subnet: Pick<PodSubnet, 'name' | 'ranges'>,
  allocation: Allocation,
  port: string,
): Annotations => ({
  ...answerCommon(subnet, allocation),
  [annotationNames.port]: port,
});

const answerCommon = (
  { name: subnet, ranges }: Pick<PodSubnet, 'name' | 'ranges'>,
  allocation: Allocation,
): Annotations => ({
  ...writeAllocation({ ...allocation, subnet }),
  [annotationNames.cidr]: ranges.map(({ cidr }) => cidr).join(','),
  [annotationNames.gateway]: ranges.map(({ gateway }) => gateway).join(','),
});
