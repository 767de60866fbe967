/**
 * Answers of services. A pod sends to the address of a service; the node's proxy replaces the destination by a pod.
 * The answer of that pod must have the address of the service again before it gets to the first one.
 *
 * With the kernel's datapath the bridge does this: it tracks in zone 0, the one of the packet filter, and so finds
 * the connections that the proxy has translated. With `netdev` the bridge has its own connections, and none of them
 * is translated. There it marks those that come from the proxy, and answers go back to the node, which translates
 * them.
 */
import type { Action, Flow } from '@podwire/openflow';
import { HOST_PORT } from '../ports.js';
import type { Datapath, SdnPod } from '../types.js';
import { doThen, flow, ip, setRegister } from './flows.js';
import { tables } from './tables.js';

/**
 * Looks the connection up, and comes back to the first table. ovs-vswitchd 3.1 ends with a failed assertion when a
 * packet with an action set is tracked, so no flow of this bridge writes one.
 */
export const trackConnection: Action = { type: 'ct', table: tables.dispatch };

const FROM_PROXY = 1;

/** Remembers on `netdev` that the service proxy has sent this connection to a pod. */
export const markProxied = (datapath: Datapath): readonly Action[] =>
  datapath === 'system'
    ? []
    : [{ type: 'ct', commit: true, exec: [{ type: 'set_field', field: 'ct_mark', value: FROM_PROXY }] }];

/** On `system`: gives answers of services their address back, if they are for pods of this node. */
export const planTranslation = (datapath: Datapath, subnet: string): Flow[] =>
  datapath === 'netdev'
    ? []
    : [
        flow('route', 250, ip({ ip_dst: subnet, ct_state: '+rpl' }), {
          actions: [{ type: 'ct', nat: {}, table: tables.toPod }],
        }),
      ];

/** On `netdev`: sends answers of services for this pod to the node, if the pod may have them at all. */
export const planAnswers = (datapath: Datapath, pod: SdnPod, vnid: number): Flow[] =>
  datapath === 'system'
    ? []
    : [
        flow(
          'toPod',
          200,
          ip({ ip_dst: pod.ip, ct_state: '+rpl', ct_mark: FROM_PROXY }),
          doThen([setRegister('reg1', vnid), setRegister('reg2', HOST_PORT)], 'ingressRules'),
        ),
      ];
