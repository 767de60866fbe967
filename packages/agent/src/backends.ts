/** The backends of this node, opened on its kernel. With resource-kinds.ts the only place that joins them. */
import { createLinuxBackends, type Kernel } from '@podwire/backend-linux';
import type { Backend } from '@podwire/engine';

export const createBackends = (kernel: Kernel): Backend[] => createLinuxBackends(kernel);
