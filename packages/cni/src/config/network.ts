import { compact } from '@podwire/platform';
import { CniError, errorCodes } from '../error.js';
import { fileLimits, type JsonLimits, parseJson } from '../json.js';
import { validateNetworkName, validatePluginType } from '../names.js';
import {
  array,
  boolean,
  type JsonObject,
  object,
  optional,
  type Reader,
  readAs,
  record,
  required,
  ShapeError,
  string,
} from '../shape.js';
import { type CniVersion, negotiateVersion } from '../version.js';

/**
 * The configuration of one plugin of a network (specification, section 1, "Plugin configuration objects"). Keys that are not
 * named here belong to the plugin and stay as they are.
 */
export interface PluginConfig extends JsonObject {
  /** File name of the plugin's executable. */
  readonly type: string;
  /** Capability arguments the plugin wants; see section 3, "Deriving runtimeConfig". */
  readonly capabilities?: Readonly<Record<string, boolean>>;
}

/** A network as it will be executed (specification, section 1, "Configuration format"). */
export interface NetworkConfig {
  readonly name: string;
  /** The version to speak, chosen from `cniVersion` and `cniVersions`. */
  readonly cniVersion: CniVersion;
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly loadOnlyInlinedPlugins: boolean;
  /** At least one once it is loaded; in the order of ADD. */
  readonly plugins: readonly PluginConfig[];
  /** The JSON of the whole list, plugins of other files included. This is what the cache keeps for DEL. */
  readonly source: string;
  /** The file it was loaded from; absent for a network that came as text. */
  readonly file?: string;
}

/** The fields of a list besides its plugins, and the raw object they are part of. */
interface ParsedList extends Omit<NetworkConfig, 'source' | 'file'> {
  readonly raw: JsonObject;
}

export interface ConfigSource {
  /** Named in errors. */
  readonly file?: string;
  readonly limits?: JsonLimits;
}

/** `"true"` and `"false"` in any case are accepted for booleans: old generators quote them, and libcni reads them. */
const flag: Reader<boolean> = (value, path) => {
  if (typeof value !== 'string') return boolean(value, path);
  const text = value.toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true';
  throw new ShapeError(path, `must be true or false, is ${JSON.stringify(value)}`);
};

const plugin: Reader<PluginConfig> = (value, path) => {
  const from = object(value, path);
  const type = required(from, 'type', path, string);
  // Only checked: what is not asked for is passed on as it is.
  optional(from, 'capabilities', path, record(boolean));
  const ipam = optional(from, 'ipam', path, object);
  const ipamType = ipam && optional(ipam, 'type', `${path}.ipam`, string);
  for (const name of [type, ipamType ?? type]) checkType(name, path);
  return from['capabilities'] === null ? without(from, 'capabilities', type) : { ...from, type };
};

function checkType(type: string, path: string): void {
  try {
    validatePluginType(type);
  } catch (error) {
    throw new ShapeError(path, (error as Error).message);
  }
}

function without(from: JsonObject, key: string, type: string): PluginConfig {
  return { ...Object.fromEntries(Object.entries(from).filter(([name]) => name !== key)), type };
}

function nonEmpty<T>(read: Reader<T[]>): Reader<T[]> {
  return (value, path) => {
    const items = read(value, path);
    if (items.length === 0) throw new ShapeError(path, 'is empty');
    return items;
  };
}

const list: Reader<ParsedList> = (value) => {
  const raw = object(value, '');
  const loadOnlyInlinedPlugins = optional(raw, 'loadOnlyInlinedPlugins', '', flag) ?? false;
  const plugins = Object.hasOwn(raw, 'plugins') ? nonEmpty(array(plugin))(raw['plugins'], 'plugins') : [];
  if (loadOnlyInlinedPlugins && plugins.length === 0) {
    throw new ShapeError(
      'plugins',
      'is missing, and loadOnlyInlinedPlugins forbids to look for plugins elsewhere',
    );
  }
  return {
    raw,
    name: required(raw, 'name', '', string),
    cniVersion: chooseVersion(raw),
    disableCheck: optional(raw, 'disableCheck', '', flag) ?? false,
    disableGC: optional(raw, 'disableGC', '', flag) ?? false,
    loadOnlyInlinedPlugins,
    plugins,
  };
};

function chooseVersion(raw: JsonObject): CniVersion {
  const cniVersion = optional(raw, 'cniVersion', '', string);
  const cniVersions = optional(raw, 'cniVersions', '', array(string));
  return negotiateVersion(compact({ cniVersion, cniVersions }));
}

/**
 * Reads a network configuration list from its JSON (specification, section 1). Of `cniVersions` and `cniVersion` the
 * newest version that this library speaks is chosen. The list may have no `plugins` yet when they stand in files of
 * their own; {@link assembleNetwork} adds them.
 * @throws CniError code 6 when it is no JSON, 7 naming the field, 1 when no version can be spoken. The message
 *   begins with the file.
 */
export function parseNetwork(
  bytes: Uint8Array | string,
  { file, limits = fileLimits }: ConfigSource = {},
): NetworkConfig {
  return named(file, () => {
    const value = parseJson(bytes, 'network configuration', limits);
    const { raw, ...parsed } = readAs(errorCodes.invalidNetworkConfig, 'network configuration', () =>
      list(value, ''),
    );
    validateNetworkName(parsed.name);
    return { ...parsed, source: JSON.stringify(raw), ...compact({ file }) };
  });
}

/**
 * Reads a single plugin's configuration (`.conf`, `.json`: the format before lists) and wraps it into a network of one.
 * @throws CniError as {@link parseNetwork}.
 */
export function parseSinglePlugin(
  bytes: Uint8Array | string,
  { file, limits = fileLimits }: ConfigSource = {},
): NetworkConfig {
  return named(file, () => {
    const value = parseJson(bytes, 'plugin configuration', limits);
    const single = readAs(errorCodes.invalidNetworkConfig, 'plugin configuration', () =>
      singlePlugin(value, ''),
    );
    const { name, cniVersion } = single;
    const source = JSON.stringify({ name, cniVersion, plugins: [single] });
    return { ...parseNetwork(source, { limits }), ...compact({ file }) };
  });
}

const singlePlugin: Reader<PluginConfig> = (value, path) => {
  const from = object(value, path);
  if (!Object.hasOwn(from, 'type') && Object.hasOwn(from, 'plugins')) {
    throw new ShapeError('type', 'is missing; a list of plugins belongs into a .conflist file');
  }
  return plugin(from, path);
};

/** One plugin's object out of a network's folder. @throws CniError as {@link parseNetwork}. */
export function parsePlugin(
  bytes: Uint8Array | string,
  { file, limits = fileLimits }: ConfigSource = {},
): PluginConfig {
  return named(file, () => {
    const value = parseJson(bytes, 'plugin configuration', limits);
    return readAs(errorCodes.invalidNetworkConfig, 'plugin configuration', () => plugin(value, ''));
  });
}

/**
 * Appends plugins that were found outside the list (section 1, `loadOnlyInlinedPlugins`). The source then holds them
 * too, so that a DEL from the cache runs the same plugins as the ADD; libcni forgets them there.
 * @throws CniError code 7 when the network has no plugin at all.
 */
export function assembleNetwork(network: NetworkConfig, more: readonly PluginConfig[]): NetworkConfig {
  const plugins = [...network.plugins, ...more];
  if (plugins.length === 0) {
    throw new CniError(errorCodes.invalidNetworkConfig, `network ${network.name} has no plugins`);
  }
  if (more.length === 0) return network;
  const source = JSON.stringify({ ...(JSON.parse(network.source) as JsonObject), plugins });
  return { ...network, plugins, source };
}

/** The capabilities that at least one plugin of the network wants, in the order they are met. */
export function enabledCapabilities(network: NetworkConfig): readonly string[] {
  const names = network.plugins.flatMap(({ capabilities = {} }) =>
    Object.keys(capabilities).filter((name) => capabilities[name] === true),
  );
  return [...new Set(names)];
}

/** Puts the file's name before the message, whatever went wrong. */
function named<T>(file: string | undefined, read: () => T): T {
  if (file === undefined) return read();
  try {
    return read();
  } catch (error) {
    const { code, message, details } = CniError.from(error);
    throw new CniError(code, `${file}: ${message}`, { details, cause: error });
  }
}
