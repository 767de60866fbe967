import type { Backend } from '@podwire/engine';
import type { Clock } from '@podwire/platform';
import type { Kernel, PodNamespaces } from '../kernel.js';
import { watchNode, watchPods } from '../watch/index.js';
import { dumpNamespace } from './dump.js';
import { isAbsent, isConflict } from '../errors.js';
import { rtnetlinkKinds } from './kinds.js';
import { createLinkDeletion } from './link-removal.js';
import { RtnetlinkSession } from './session.js';

/** Links and everything that the kernel keeps in tables beside them, on the host and in pods. */
export function createRtnetlink(kernel: Kernel, pods: PodNamespaces, clock: Clock): Backend {
  const parts = { kernel, pods, clock, veths: new Map() };
  return {
    name: 'rtnetlink',
    kinds: Object.values(rtnetlinkKinds),
    open: (owned, context) => new RtnetlinkSession(parts, owned, context),
    snapshot: () => dumpNamespace(kernel.host),
    isAbsent,
    isConflict,
    deferred: createLinkDeletion(kernel),
    changes: [watchNode(kernel), watchPods(kernel)],
    close: () => kernel.close(),
  };
}
