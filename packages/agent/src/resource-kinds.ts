/** The kinds of resources of all backends that a node has, for questions about resources. It opens nothing. */
import { linuxRegistry } from '@podwire/backend-linux';
import type { KindRegistry } from '@podwire/engine';

export const resourceKinds: KindRegistry = linuxRegistry;
