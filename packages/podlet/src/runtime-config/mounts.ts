/** Mounts of a container as the runtime is asked for them. */
import { type Mount, MountPropagation } from '@podwire/cri';
import { PodwireError } from '@podwire/errors';
import type { PreparedMount } from '../parts.js';
import type { Container } from '@podwire/pod-spec';

export interface MountFacts {
  readonly container: Container;
  /** True if the runtime can make a mount read-only with all that is mounted below it. */
  readonly recursiveReadOnly: boolean;
}

/** @throws PodwireError CONTAINER_CONFIG_INVALID: what the API server refuses, and what this runtime cannot do */
export function toMount(mount: PreparedMount, facts: MountFacts): Mount {
  const { hostPath, containerPath, readOnly } = mount;
  return {
    hostPath,
    // Runtimes refuse a relative path; manifests may have one (Windows has drives).
    containerPath: containerPath.startsWith('/') ? containerPath : `/${containerPath}`,
    readonly: readOnly,
    selinuxRelabel: false,
    propagation: requestPropagation(mount, facts),
    uidMappings: [],
    gidMappings: [],
    recursiveReadOnly: requestRecursion(mount, facts),
  };
}

const propagations: Readonly<Record<string, MountPropagation>> = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

/** A mount that a container makes appears on the node with Bidirectional: that is for those who are root there anyway. */
function requestPropagation(mount: PreparedMount, { container }: MountFacts): MountPropagation {
  const { mountPropagation = 'None' } = mount;
  const propagation = propagations[mountPropagation];
  if (propagation === undefined)
    throw invalid(mount, container, `mountPropagation ${mountPropagation} is unknown`);
  const needsPrivilege = propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL;
  if (needsPrivilege && container.securityContext.privileged !== true)
    throw invalid(mount, container, 'mountPropagation Bidirectional needs a privileged container');
  return propagation;
}

/** `IfPossible` is as good as the runtime. */
function requestRecursion(mount: PreparedMount, { container, recursiveReadOnly: can }: MountFacts): boolean {
  const { recursiveReadOnly: wanted = 'Disabled', readOnly, mountPropagation = 'None' } = mount;
  if (wanted === 'Disabled') return false;
  if (!readOnly) throw invalid(mount, container, `recursiveReadOnly ${wanted} needs readOnly`);
  if (mountPropagation !== 'None')
    throw invalid(mount, container, `recursiveReadOnly ${wanted} cannot be had with mountPropagation`);
  if (wanted === 'Enabled' && !can)
    throw invalid(mount, container, 'recursiveReadOnly Enabled: this runtime cannot do that');
  return can;
}

function invalid({ containerPath }: PreparedMount, { name }: Container, why: string): PodwireError {
  return new PodwireError('CONTAINER_CONFIG_INVALID', `container ${name}, mount ${containerPath}: ${why}`, {
    details: { container: name },
  });
}
