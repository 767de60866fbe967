/** Mounts of a container as the runtime is asked for them. */
import { type Mount } from '@podwire/cri';
import type { PreparedMount } from '../parts.js';
import type { Container } from '@podwire/pod-spec';
export interface MountFacts {
    readonly container: Container;
    /** Whether the runtime can make a mount read-only with all that is mounted below it. */
    readonly recursiveReadOnly: boolean;
}
/** @throws PodwireError CONTAINER_CONFIG_INVALID: what the API server refuses, and what this runtime cannot do */
export declare function toMount(mount: PreparedMount, facts: MountFacts): Mount;
//# sourceMappingURL=mounts.d.ts.map