import type { Backend, Batch, Failure, Kind, Session, SessionOptions } from '@podwire/engine';
import type { Conntrack } from '@podwire/nftables';
import * as is from '../checks.js';
import type { Kernel } from '../kernel.js';
import { observeEach } from '../kinds.js';
import { isAbsent, isConflict } from '../errors.js';
import type { ConntrackReset, ConntrackResources } from './resources.js';

const reset: Kind<ConntrackReset> = {
  kind: 'conntrack-reset',
  check: is.resource<ConntrackReset>({
    ...{
      protocol: is.protocol,
      address: is.optional(is.address),
      family: is.oneOf(4, 6),
      port: is.optional(is.port),
    },
  }),
  backend: 'conntrack',
  batch: 'resets',
  place: () => 'host',
  key: ({ protocol, family, address, port }) =>
    `conntrack-reset ${protocol} IPv${family} ${address ?? 'any'} ${port ?? 'any'}`,
  describe: ({ protocol, family, address, port }) =>
    `no connections to ${address ?? `any IPv${family}`} ${protocol} ${port ?? 'any'} tracked`,
  // When nothing can make new entries any more.
  removal: 'last',
  inPlace: true,
  compare: () => undefined,
};

export const conntrackKinds = { 'conntrack-reset': reset } satisfies {
  [K in keyof ConntrackResources]: Kind<ConntrackResources[K]>;
};

/** The node's connection tracking. Nothing of it is ours; entries are only deleted. */
export function createConntrack(kernel: Kernel): Backend {
  return {
    name: 'conntrack',
    kinds: Object.values(conntrackKinds),
    open: () => openSession(kernel.conntrack),
    isAbsent,
    isConflict,
    close: () => kernel.close(),
  };
}

function openSession(conntrack: Conntrack): Session {
  const resetAll = async ({ resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> => {
    const filters = (resources as readonly ConntrackReset[]).map(({ kind: _, ...filter }) => filter);
    try {
      await conntrack.deleteConntrack(filters, { signal });
      return [];
    } catch (error) {
      return resources.map((resource) => ({ resource, error }));
    }
  };
  return {
    reaches: async () => Promise.resolve(true),
    create: resetAll,
    repair: async (batch, _repairs, options) => resetAll(batch, options),
    remove: resetAll,
    observe: async (resources) => Promise.resolve(observeEach(resources, () => undefined)),
    close: () => undefined,
  };
}
