import type { Pod } from '@podwire/pod-spec';
import type { ObservedPod } from './observed.js';

export interface SandboxChange {
  readonly recreate: boolean;
  /** Of the sandbox to be created; 0 for the first. */
  readonly attempt: number;
  /** The one to go on with. */
  readonly sandboxId?: string;
  /** For people. */
  readonly why?: string;
}

/** Decides if a pod needs a (new) sandbox: specification §1.6, in its order. */
export function evaluateSandbox(pod: Pod, observed: ObservedPod): SandboxChange {
  const newest = observed.sandboxes[0];
  if (newest === undefined) return { recreate: true, attempt: 0, why: 'it has none' };
  const why = reasonToRecreate(pod, observed);
  const attempt = newest.attempt + 1;
  return why === undefined
    ? { recreate: false, attempt, sandboxId: newest.id }
    : { recreate: true, attempt, why };
}

function reasonToRecreate(pod: Pod, observed: ObservedPod): string | undefined {
  const newest = observed.sandboxes[0];
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready);
  if (ready.length > 1) return `${ready.length} sandboxes are ready`;
  if (newest?.ready !== true) return 'its sandbox is not ready';
  if (newest.hostNetwork !== pod.spec.hostNetwork) return 'hostNetwork has changed';
  if (!pod.spec.hostNetwork && newest.addresses.length === 0) return 'its sandbox has no address';
  return undefined;
}
