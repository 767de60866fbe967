/** Which cluster a command is about: `--store`, `--config` with a `cluster`, or `PODWIRE_STORE`; `--root` where its keys begin. */
import { PodwireError } from '@podwire/errors';
import type { StoreSpec } from '@podwire/store';
import { type Command, Option } from 'commander';
import { optionsOf } from '../command.js';
import type { Io } from '../io.js';

const group = 'Cluster:';

export function addStore(command: Command, withConfig = true): Command {
  command
    .addOption(
      new Option(
        '--store <url>',
        "the cluster's store: embedded:/DIRECTORY, etcd://HOST:PORT,… or consul://HOST:PORT",
      ).helpGroup(group),
    )
    .addOption(new Option('--root <path>', 'prefix of its keys (/podwire)').helpGroup(group));
  if (!withConfig) return command;
  return command.addOption(
    new Option('--config <file>', "an agent's configuration, which names both").helpGroup(group),
  );
}

export interface ClusterPlace {
  readonly spec: StoreSpec;
  readonly root: string;
  /** As the configuration has it, milliseconds. */
  readonly vanishAfter?: number;
}

const rootShape = /^(\/[A-Za-z0-9._-]+)+$/;

/**
 * Undefined when no cluster is named. `--store` counts more than `--config`, which counts more than the environment.
 * @throws PodwireError CONFIG_INVALID
 */
export async function locateCluster(command: Command, io: Io): Promise<ClusterPlace | undefined> {
  const { store, root, config } = optionsOf(command) as { store?: string; root?: string; config?: string };
  if (root !== undefined && !rootShape.test(root)) {
    throw new PodwireError('CONFIG_INVALID', `--root: ${JSON.stringify(root)} is no path such as /podwire`);
  }
  const fromConfig = store === undefined && config !== undefined ? await readConfig(config) : undefined;
  const url = store ?? (config === undefined ? io.env['PODWIRE_STORE'] : undefined);
  if (url !== undefined && url !== '') {
    const { parseStoreUrl } = await import('@podwire/store');
    return { spec: parseStoreUrl(url), root: root ?? io.env['PODWIRE_ROOT'] ?? '/podwire' };
  }
  return fromConfig === undefined || root === undefined ? fromConfig : { ...fromConfig, root };
}

async function readConfig(file: string): Promise<ClusterPlace | undefined> {
  const { loadConfig } = await import('@podwire/agent');
  const { cluster } = loadConfig(file);
  if (cluster === undefined) return undefined;
  return { spec: cluster.store, root: cluster.root, vanishAfter: cluster.vanishAfter };
}

/** @throws PodwireError CONFIG_INVALID when none is named */
export async function requireCluster(command: Command, io: Io): Promise<ClusterPlace> {
  const place = await locateCluster(command, io);
  if (place !== undefined) return place;
  const { config } = optionsOf(command) as { config?: string };
  const what = config === undefined ? 'no store is named' : `${config} has no \`cluster\``;
  throw new PodwireError(
    'CONFIG_INVALID',
    `${what}: give --store URL, --config FILE of an agent in a cluster, or PODWIRE_STORE`,
  );
}
