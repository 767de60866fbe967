/** Where the objects are that a command is about: in the store of a cluster, or in a directory of a node alone. */
import fs from 'node:fs';
import type { ObjectSource } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { type Command, Option } from 'commander';
import { addStore, locateCluster } from '../cluster/options.js';
import { withStoreAt } from '../cluster/with-store.js';
import { optionsOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import type { Io } from '../io.js';

/** Of a node that was installed with `podwire service install`. */
const usualConfig = '/etc/podwire/agent.yaml';
const usualDirectory = '/etc/podwire/objects';

export interface Objects {
  readonly source: ObjectSource;
  /** In a cluster. */
  readonly cluster?: { readonly store: Store; readonly root: string };
}

export type ObjectsWork<T> = (objects: Objects, signal: AbortSignal) => Promise<T>;

/** Also declares `--objects`. */
export function addObjects(command: Command): Command {
  return addStore(command).addOption(
    new Option(
      '--objects <directory>',
      `the objects of a node alone (objects.directory of its configuration, ${usualDirectory})`,
    ).helpGroup('Cluster:'),
  );
}

/**
 * `--objects`; else the store that `--store`, `--config` or `PODWIRE_STORE` names; else the configuration that is usual, or the
 * directory that is.
 * @throws PodwireError CONFIG_INVALID, STORE_UNAVAILABLE; InterruptedError
 */
export async function withObjects<T>(command: Command, io: Io, work: ObjectsWork<T>): Promise<T> {
  const { objects, config } = optionsOf(command) as { objects?: string; config?: string };
  if (objects !== undefined) return withDirectory(objects, io, work);
  const named = await locateCluster(command, io);
  if (named !== undefined) return withCluster(named, io, work);
  const file = config ?? (fs.existsSync(usualConfig) ? usualConfig : undefined);
  if (file === undefined) return withDirectory(usualDirectory, io, work);
  const { loadConfig } = await import('@podwire/agent');
  const { cluster, objects: own } = loadConfig(file);
  if (cluster === undefined) return withDirectory(own.directory, io, work);
  return withCluster({ spec: cluster.store, root: cluster.root }, io, work);
}

async function withCluster<T>(
  place: Parameters<typeof withStoreAt>[0],
  io: Io,
  work: ObjectsWork<T>,
): Promise<T> {
  const { createStoreSource } = await import('@podwire/objects');
  const run = ({ store, clock }: { store: Store; clock: { now(): number } }, signal: AbortSignal) => {
    const source = createStoreSource({ store, root: place.root, clock });
    return work({ source, cluster: { store, root: place.root } }, signal);
  };
  return withStoreAt(place, io, run);
}

async function withDirectory<T>(directory: string, io: Io, work: ObjectsWork<T>): Promise<T> {
  const [{ createDirectorySource }, { lockFile }] = await Promise.all([
    import('@podwire/objects'),
    import('@podwire/linux'),
  ]);
  const source = createDirectorySource({
    directory,
    clock: io.cluster?.clock ?? systemClock,
    lock: lockFile,
    keepLastGood: false,
  });
  return withInterrupt((signal) => work({ source }, signal));
}
