import type { QosRule } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import type { Read } from '@podwire/planner';
import type { OvnPod } from '../contract.js';
import { planEgressGroup } from './egress.js';
import { limitFrom } from './limits.js';
import { podPortName } from './names.js';
import { vendor } from './rows.js';

/**
 * One port on the switch of the pod's subnet, and a limit for what comes from it. Nothing else: that it leaves through its node is
 * what its group says.
 */
export function planPod(id: string, read: Read): Resource[] | undefined {
  const pod = read(`ovn-pod/${id}`);
  if (pod === undefined || read(`ovn-subnet/${pod.subnet}`) === undefined) return undefined;
  const { mac, addresses, namespace, name } = pod;
  const all = [[mac, ...addresses].join(' ')];
  const group = findEgressGroup(pod, read);
  return [
    ...(group === undefined ? [] : [group]),
    {
      ...{ kind: 'logical-switch-port', name: podPortName(namespace, name), switch: pod.subnet },
      ...{ addresses: all, ...(pod.hasPortSecurity ? { portSecurity: all } : {}) },
      ...(group === undefined ? {} : { groups: [group.name] }),
      externalIds: { ...vendor, pod: `${namespace}/${name}` },
    },
    ...limitPod(pod),
  ];
}

/** `ingress_policing_rate` of its interface, as Kube-OVN sets it, limits nothing on the datapath `netdev`. */
const limitPod = ({ namespace, name, subnet, egressRate: rate }: OvnPod): QosRule[] =>
  limitFrom({
    ...{ port: podPortName(namespace, name), switch: subnet, rate },
    externalIds: { ...vendor, pod: `${namespace}/${name}` },
  });

/** Of the subnet, once for all its pods there. The pod has it too, so that its port does not depend on which is planned first. */
function findEgressGroup({ subnet: name, node }: OvnPod, read: Read) {
  const subnet = read(`ovn-subnet/${name}`);
  if (subnet === undefined || node === undefined || subnet.egress.type === 'centralized') return undefined;
  if (subnet.underlay !== undefined || read(`ovn-vpc/${subnet.vpc}`)?.isDefault !== true) return undefined;
  return read(`ovn-node/${node}`) === undefined ? undefined : planEgressGroup(name, node);
}
