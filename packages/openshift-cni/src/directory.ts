/** The directory of socket and config.json. */
import fs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { replaceFileSync } from '@podwire/platform';
import { configMode, configName, type NodeConfig, renderNodeConfig, socketName } from './files.js';

const privateMode = 0o700;
const permissions = 0o7777;

/**
 * Removes a directory that others may have used, and so anything that they have put where our files will be; the listener
 * makes it anew. Unlike the original it removes nothing else: with a wrong path in a configuration that would be much.
 * @throws PodwireError CONFIG_INVALID when it is no directory, or holds other files
 */
export function clearDirectory(directory: string): void {
  const stats = fs.lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && (stats.mode & permissions) === privateMode)) return;
  try {
    for (const name of [socketName, configName]) fs.rmSync(path.join(directory, name), { force: true });
    fs.rmdirSync(directory);
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `cannot make ${directory} private: ${describeError(cause)}`, {
      cause,
      details: { directory },
      action: 'Remove it, or what is in it, if nothing else needs that.',
    });
  }
}

/** Replaces config.json as a whole. @throws PodwireError CONFIG_INVALID */
export function writeNodeConfig(directory: string, config: NodeConfig): void {
  const file = path.join(directory, configName);
  try {
    replaceFileSync(file, renderNodeConfig(config), { mode: configMode });
  } catch (cause) {
    const message = `cannot write ${file}: ${describeError(cause)}`;
    throw new PodwireError('CONFIG_INVALID', message, { cause, details: { file } });
  }
}

/** Without it the plugin says that the node is not ready, instead of failing to connect. */
export function removeNodeConfig(directory: string): void {
  fs.rmSync(path.join(directory, configName), { force: true });
}
