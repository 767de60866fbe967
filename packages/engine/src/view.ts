import type { ObservedNamespace, Survey, View } from './observe.js';
import { probePod } from './probe-pod.js';
import { probeFilter, probeNamespace } from './probe.js';
import type { Session } from './session.js';

/** Probes, except for what a survey has read already. */
export function openView(session: Session, survey?: Survey): View {
  const host = survey?.host ?? probeNamespace(session.namespace('host'));
  let pod: ObservedNamespace | undefined;
  return {
    side: (side) => (side === 'host' ? host : (pod ??= probePod(session.namespace('pod')))),
    filter: survey?.filter ?? probeFilter(session.kernel.nftables),
  };
}
