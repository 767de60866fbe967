import { type Pod, podName } from '@podwire/pod-spec';

/** Which pod has a name now: of two with the same name, the second begins when the first is gone. */
export interface NameClaims {
  /** @returns whether it has the name. `force`: it has it in fact, whoever claimed it. */
  claim(pod: Pod, force: boolean): boolean;
  /** @returns false when it did not have it */
  release(pod: Pod): boolean;
}

export function createNameClaims(): NameClaims {
  const owners = new Map<string, string>();
  return {
    claim(pod, force) {
      const name = podName(pod);
      const owner = owners.get(name);
      if (owner !== undefined && owner !== pod.metadata.uid && !force) return false;
      owners.set(name, pod.metadata.uid);
      return true;
    },
    release(pod) {
      const name = podName(pod);
      return owners.get(name) === pod.metadata.uid && owners.delete(name);
    },
  };
}
