/** Tables 27 and 80: how the modes differ. */
import { globalVnid } from '@podwire/objects/vnid';
import type { Flow } from '@podwire/openflow';
import { checkProject } from '../check.js';
import type { SdnMode } from '../types.js';
import { drop, flow, goTo, outputToPod } from './flows.js';

const isolation: Readonly<Record<SdnMode, readonly Flow[]>> = {
  subnet: [flow('ingressRules', 200, {}, outputToPod)],
  multitenant: [
    flow('ingressRules', 200, { reg0: globalVnid }, outputToPod),
    flow('ingressRules', 200, { reg1: globalVnid }, outputToPod),
  ],
};

export const planMode = (mode: SdnMode): Flow[] => [
  // Neither mode has egress rules.
  flow('egressRules', 500, {}, goTo('commit')),
  flow('egressRules', 0, {}, drop),
  ...isolation[mode],
  flow('ingressRules', 0, {}, drop),
];

/** The VNID that a project has in a mode: without isolation all projects are one. */
export const vnidIn = (mode: SdnMode, vnid: number): number => (mode === 'subnet' ? globalVnid : vnid);

/**
 * Plans the flows of a project that has pods on this node: they reach each other. Empty for the global project,
 * which needs no flows of its own, and in the mode `subnet`.
 * @throws PodwireError OBJECT_INVALID for a number that is no VNID
 */
export function planProjectFlows(mode: SdnMode, vnid: number): Flow[] {
  checkProject(vnid);
  if (vnidIn(mode, vnid) === globalVnid) return [];
  return [flow('ingressRules', 100, { reg0: vnid, reg1: vnid }, outputToPod)];
}
