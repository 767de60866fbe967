/** Objects of OpenShift SDN that plans read, and the facts that they give. */
import type { ObjectFacts } from '@podwire/network-contract';
import type { NetNamespaceFact } from './endpoint/attachment.js';
import { type HostSubnetFact, subnets } from './node/subnets.js';

const apiVersion = 'network.openshift.io/v1';

export const objects: readonly ObjectFacts[] = [
  {
    ...{ fact: 'net-namespace', apiVersion, kind: 'NetNamespace' },
    read: ({ netid }: NetNamespaceFact): NetNamespaceFact => ({ netid }),
  },
  {
    ...{ fact: subnets.fact, apiVersion, kind: 'HostSubnet' },
    // Empty where one is asked for, and not handed out yet.
    read: ({ subnet }: HostSubnetFact): HostSubnetFact | undefined =>
      subnet === '' ? undefined : { subnet },
  },
];
