/** Plans of the logical network, by the kind of scope, which is also the fact that each is planned from. */
import { planNode } from './plan-node.js';
import { planPod } from './plan-pod.js';
import { planSubnet } from './plan-subnet.js';
import { planVpc } from './plan-vpc.js';

export const topologyPlans = {
  'ovn-vpc': planVpc,
  'ovn-subnet': planSubnet,
  'ovn-node': planNode,
  'ovn-pod': planPod,
} as const;
