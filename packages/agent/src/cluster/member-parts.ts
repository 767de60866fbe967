/** Parts of a cluster member that depend on its options alone, and on little of each other. */
import type { ClusterCache } from '@podwire/cluster-state';
import { keysBelow } from '@podwire/cluster-state';
import type { NodeAddressing, NodeAddressingOptions } from '@podwire/cluster-ipam';
import type { Controller } from '@podwire/controller';
import { compact } from '@podwire/platform';
import type { MemberOptions } from './contract.js';
import type { Identity } from './identity.js';
import { ObjectFactStore } from './object-facts.js';
import { openObjectJournal } from './object-journal.js';
import { PeerLeases } from './peer-leases.js';
import { PodRecords } from './pod-records.js';
import { Registration, type RegistrationOptions } from './registration.js';

/** Of the eviction timeout: the clocks of two machines do not run alike. */
const fenceShare = 0.9;

const shareOf = ({ config, nodeName, world, faults, log }: MemberOptions) => ({
  ...{ node: nodeName, store: world.store, keys: keysBelow(config.root), clock: world.clock, faults, log },
});

/** Brings its facts to the planner. */
export function createObjects({
  config,
  nodeName,
  models,
  desired,
  world,
  log,
}: MemberOptions): ObjectFactStore {
  const { store, files, clock } = world;
  const kinds = models.flatMap(({ objects = [] }) => objects);
  const journal = openObjectJournal(files, log);
  const objects = new ObjectFactStore({ kinds, nodeName, store, root: config.root, journal, clock, log });
  desired.addFacts(objects.sources);
  return objects;
}

export const createRegistration = (
  options: MemberOptions,
  { instance }: Identity,
  given: Pick<RegistrationOptions, 'describe' | 'noteWritten'>,
): Registration =>
  new Registration({
    ...shareOf(options),
    ...compact({ machine: options.world.machine }),
    ...{ instance, ttl: options.config.lease, evictionTimeout: options.config.vanishAfter },
    ...given,
  });

export function createPeerLeases(options: MemberOptions, { nodes, synced }: ClusterCache): PeerLeases {
  const { node: nodeName, store, keys, clock, log } = shareOf(options);
  return new PeerLeases({ store, keys, nodeName, nodes, nodesSynced: synced, clock, log });
}

export function createAddressing(
  options: MemberOptions,
  { instance }: Identity,
  given: Pick<NodeAddressingOptions, 'cache' | 'savedState' | 'taken'>,
): NodeAddressing {
  const { config, world, random } = options;
  return world.createAddressing({
    ...shareOf(options),
    ...{ instance, labels: config.labels, random },
    fenceAfter: config.vanishAfter * fenceShare,
    reportEvery: config.reportInterval,
    ...given,
  });
}

/** Undefined where no model's pods get their addresses from a controller. */
export function createPodRecords(options: MemberOptions): PodRecords | undefined {
  if (options.models.every(({ assigned }) => assigned === undefined)) return undefined;
  const { store, keys, clock, log } = shareOf(options);
  return new PodRecords({ store, keys, nodeName: options.nodeName, clock, log });
}

export function createController(options: MemberOptions): Controller | undefined {
  const { config, nodeName, world } = options;
  if (!config.controller) return undefined;
  const { store, keys, clock, log } = shareOf(options);
  const name = `${nodeName}/${process.pid}`;
  return world.createController({ store, keys, clock, log, name, evictionTimeout: config.vanishAfter });
}
