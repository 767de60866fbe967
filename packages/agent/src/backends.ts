/** The backends of this node, and the kinds of resources that they have. The only place that joins them. */
import { createLinuxBackends, type Kernel, linuxRegistry } from '@podwire/backend-linux';
import type { Backend, KindRegistry } from '@podwire/engine';

export const resourceKinds: KindRegistry = linuxRegistry;

export const createBackends = (kernel: Kernel): Backend[] => createLinuxBackends(kernel);
