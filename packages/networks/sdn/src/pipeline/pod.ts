import type { Flow } from '@podwire/openflow';
import { hexOf } from '../addresses.js';
import { checkPod } from '../check.js';
import type { SdnNode, SdnPod } from '../types.js';
import { planAnswers } from './connections.js';
import { arp, doThen, flow, ip, output, setRegister } from './flows.js';
import { vnidIn } from './modes.js';

/**
 * Plans the flows of a pod of this node.
 * @throws PodwireError OBJECT_INVALID for what is no IPv4 address, port or VNID
 */
export function planPodFlows(node: Pick<SdnNode, 'mode' | 'datapath'>, pod: SdnPod): Flow[] {
  checkPod(pod);
  const vnid = vnidIn(node.mode, pod.vnid);
  const sender = setRegister('reg0', vnid);
  // Only the part of the MAC address that is the IP address, as OpenShift checks it.
  const mac = `00:00:${hexOf(pod.ip)}/00:00:ff:ff:ff:ff`;
  return [
    flow(
      'fromPod',
      100,
      { in_port: pod.port, ...arp({ arp_spa: pod.ip, arp_sha: mac }) },
      doThen([sender], 'commit'),
    ),
    flow('fromPod', 100, { in_port: pod.port, ...ip({ ip_src: pod.ip }) }, doThen([sender], 'egressRules')),
    flow('fromProxy', 100, ip({ ip_src: pod.ip }), doThen([sender], 'egressRules')),
    // ARP is not isolated: it shows no more than that the address is in use.
    flow('arpToPod', 100, arp({ arp_tpa: pod.ip }), output(pod.port)),
    flow(
      'toPod',
      100,
      ip({ ip_dst: pod.ip }),
      doThen([setRegister('reg1', vnid), setRegister('reg2', pod.port)], 'ingressRules'),
    ),
    ...planAnswers(node.datapath, pod, vnid),
  ];
}
