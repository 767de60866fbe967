/** The kinds of resources of all backends that a node can have, for questions about resources. It opens nothing. */
import { linuxKinds } from '@podwire/backend-linux';
import { flowKinds } from '@podwire/backend-openflow';
import { switchKinds } from '@podwire/backend-ovsdb';
import { createKindRegistry, type KindRegistry } from '@podwire/engine';

export const resourceKinds: KindRegistry = createKindRegistry([
  ...Object.values(linuxKinds),
  ...Object.values(switchKinds),
  ...Object.values(flowKinds),
]);
