import { enabledCapabilities, type NetworkConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import type { PluginExit } from '../exec/exec.js';
import { PluginError, pluginMisbehaviour } from '../exec/outcome.js';
import { array, object, optional, required, string } from '../shape.js';
import { currentVersion } from '../version.js';
import { type CallContext, runInvocation } from './plugin-call.js';

/**
 * Asks a plugin for its versions (section 2, VERSION). Plugins built before the command existed insist on the variables
 * of ADD, hence the dummies, and answer that they do not know it: they speak 0.1.0.
 */
export async function probeVersions(
  context: CallContext,
  plugin: string,
  options: { signal: AbortSignal; env: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const file = await context.exec.find(plugin, context.pluginPath);
  try {
    const exit = await runInvocation(context, {
      command: 'VERSION',
      plugin,
      file,
      index: 0,
      rollback: false,
      stdin: JSON.stringify({ cniVersion: currentVersion }),
      env: { ...options.env, ...dummyVariables },
      signal: options.signal,
    });
    return readVersions(plugin, exit);
  } catch (error) {
    if (error instanceof PluginError && error.pluginMessage === 'unknown CNI_COMMAND: VERSION')
      return ['0.1.0'];
    throw error;
  }
}

const dummyVariables = {
  CNI_COMMAND: 'VERSION',
  CNI_CONTAINERID: '',
  CNI_NETNS: 'dummy',
  CNI_ARGS: '',
  CNI_IFNAME: 'dummy',
  CNI_PATH: 'dummy',
};

/** Section 5, "VERSION Success". A plugin of 0.2.0 may leave the list out: it speaks the two versions there were. */
function readVersions(plugin: string, exit: PluginExit): readonly string[] {
  try {
    const answer = object(JSON.parse(exit.stdout), '');
    const cniVersion = required(answer, 'cniVersion', '', string);
    const versions = optional(answer, 'supportedVersions', '', array(string)) ?? [];
    if (versions.length > 0) return versions;
    if (cniVersion === '0.2.0') return ['0.1.0', '0.2.0'];
    throw new Error('supportedVersions: is missing');
  } catch (error) {
    const problem = `its answer is unusable: ${(error as Error).message}`;
    throw pluginMisbehaviour({ plugin, command: 'VERSION' }, exit, problem, error);
  }
}

/** Tests every plugin and returns the capabilities; see `Runtime.validate`. */
export async function validateNetwork(
  network: NetworkConfig,
  versionsOf: (plugin: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const types = [...new Set(network.plugins.map(({ type }) => type))];
  const problems = (
    await Promise.all(types.map((type) => problemOf(type, network.cniVersion, versionsOf)))
  ).flat();
  if (problems.length === 0) return enabledCapabilities(network);
  throw new CniError(
    errorCodes.invalidNetworkConfig,
    `network ${network.name} cannot be used: ${problems.join('; ')}`,
  );
}

async function problemOf(
  type: string,
  version: string,
  versionsOf: (plugin: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    const versions = await versionsOf(type);
    if (versions.includes(version)) return [];
    return [`plugin ${type} does not speak ${version}, only ${versions.join(', ')}`];
  } catch (error) {
    return [(error as Error).message];
  }
}
