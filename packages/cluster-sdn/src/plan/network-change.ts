/** Decides about a change of its VNID that a NetNamespace asks for. Pure. */
import { PodwireError } from '@podwire/errors';
import {
  globalVnid,
  type NetNamespace,
  networkAnnotations,
  type NetworkChange,
  parseNetworkChange,
} from '@podwire/objects';
import type { Vnids } from '../allocation/vnids.js';
import { noVnid, refusal } from '../problems.js';
import { withoutAnnotation } from './annotations.js';

export type NetworkDecision =
  | { readonly act: 'nothing' }
  /** The NetNamespace as it shall be: with its new VNID, and without the annotation. */
  | { readonly act: 'change'; readonly netNamespace: NetNamespace }
  /** `netNamespace` where the annotation goes all the same; it stays otherwise, and the change is made once it is possible. */
  | { readonly act: 'refuse'; readonly error: PodwireError; readonly netNamespace?: NetNamespace };

export interface NetworkView {
  /** Only with redhat/openshift-ovs-multitenant. */
  readonly mayChange: boolean;
  readonly vnids: Pick<Vnids, 'count' | 'nextFree'>;
  /** VNIDs by namespace. */
  readonly vnidOf: ReadonlyMap<string, number>;
}

const { changeNetwork } = networkAnnotations;

export function decideNetworkChange(netNamespace: NetNamespace, view: NetworkView): NetworkDecision {
  const { netname, metadata } = netNamespace;
  const text = metadata.annotations?.[changeNetwork];
  if (text === undefined) return { act: 'nothing' };
  const answered = { ...netNamespace, metadata: withoutAnnotation(metadata, changeNetwork) };
  if (!view.mayChange)
    return { act: 'refuse', error: refusal(netname, onlyMultitenant), netNamespace: answered };
  const change = parseNetworkChange(text);
  if (change === undefined)
    return {
      act: 'refuse',
      error: refusal(netname, `${JSON.stringify(text)} is none of global, isolate and join:NAMESPACE`),
    };
  const found = findVnid(netNamespace, change, view);
  if (found instanceof PodwireError) return { act: 'refuse', error: found };
  return { act: 'change', netNamespace: { ...answered, netid: found } };
}

const onlyMultitenant = 'VNIDs change with the plugin redhat/openshift-ovs-multitenant only';

function findVnid(
  { netname, netid }: NetNamespace,
  change: NetworkChange,
  { vnids, vnidOf }: NetworkView,
): number | PodwireError {
  if (change.action === 'global') return globalVnid;
  if (change.action === 'join')
    return (
      vnidOf.get(change.namespace) ??
      refusal(netname, `cannot join ${change.namespace}, which has no NetNamespace`)
    );
  if (netname === 'default') return refusal(netname, 'the namespace default cannot be isolated');
  // The original leaves a namespace global, too, that is the only global one.
  const isAlone = netid !== globalVnid && vnids.count(netid) === 1;
  return (isAlone ? netid : vnids.nextFree()) ?? noVnid(netname);
}
