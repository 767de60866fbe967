/**
 * Why a pod that the node has taken must not begin: what it says of its own confinement, or of what it needs, would not be so. It
 * stays Pending with the reason, as with the kubelet's soft admission; a Failed pod would be made again and again by its controller.
 */
import { findUnsupported, type Pod } from '@podwire/pod-spec';
import { containerAnnotationProfiles, findBadAnnotation } from '../runtime-config/profile-annotations.js';
import type { Refusal } from './evaluate-admission.js';
import { isStatic } from './rank.js';

/** @param appArmor whether processes can be confined by AppArmor; undefined where that is not known */
export function findBlock(pod: Pod, appArmor: boolean | undefined): Refusal | undefined {
  const bad = findBadAnnotation(pod);
  if (bad !== undefined) return { reason: bad.kind, message: `Cannot enforce ${bad.kind}: ${bad.message}` };
  if (appArmor === false && wantsAppArmor(pod)) {
    return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
  }
  // Of a file it was refused as it was read.
  const unsupported = isStatic(pod) ? [] : findUnsupported(pod);
  if (unsupported.length === 0) return undefined;
  return { reason: 'Unsupported', message: `Pod cannot be run here: ${unsupported.join('; ')}` };
}

function wantsAppArmor(pod: Pod): boolean {
  const { initContainers, containers, securityContext } = pod.spec;
  return [...initContainers, ...containers].some((container) => {
    const annotated = containerAnnotationProfiles(pod, container.name);
    const type = typeOf(container.securityContext) ?? typeOf(annotated) ?? typeOf(securityContext);
    return type !== undefined && type !== 'Unconfined';
  });
}

/** The field is passed on as it stands. */
function typeOf(context: object): unknown {
  const { appArmorProfile } = context as { readonly appArmorProfile?: { readonly type?: unknown } | null };
  return appArmorProfile?.type;
}
