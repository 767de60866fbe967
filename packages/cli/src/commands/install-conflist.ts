/** The network configuration list that `podwire install` writes. */

export const DEFAULT_SOCKET = '/run/podwire/cni.sock';
export const DEFAULT_NAME = 'podwire';
export const PLUGIN_TYPE = 'podwire-cni';
/** The same program; other plugins start it under this name for addresses (their `ipam.type`). */
export const IPAM_TYPE = 'podwire-ipam';

export interface ConflistOptions {
  /** Network name; CNI specification 1.1.0, section 1, "Configuration format". */
  readonly name: string;
  /** Absolute path of the agent's CNI socket. */
  readonly socket: string;
}

/** The file's text. Runtimes of each generation find their version: `cniVersions` is 1.1.0's, older ones ignore it. */
export function renderConflist({ name, socket }: ConflistOptions): string {
  const plugin = {
    type: PLUGIN_TYPE,
    socket,
    capabilities: {
      ...{ portMappings: true, bandwidth: true, ips: true, mac: true, dns: true },
      // An annotation carries the facts that policy selects pods by.
      'io.kubernetes.cri.pod-annotations': true,
    },
  };
  const list = { cniVersion: '1.0.0', cniVersions: ['0.4.0', '1.0.0', '1.1.0'], name, plugins: [plugin] };
  return `${JSON.stringify(list)}\n`;
}

const LIST_KEYS = 'cniVersion,cniVersions,name,plugins';
const PLUGIN_KEYS = 'capabilities,socket,type';

const keysOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? Object.keys(value).sort().join(',') : '';

/**
 * True for a file that some version of {@link renderConflist} wrote: the same keys and one plugin. With another
 * plugin or option it is the administrator's.
 */
export function isOwnConflist(text: string): boolean {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return false;
  }
  if (keysOf(list) !== LIST_KEYS) return false;
  const { plugins } = list as { plugins: unknown };
  if (!Array.isArray(plugins) || plugins.length !== 1) return false;
  const [plugin] = plugins as unknown[];
  return keysOf(plugin) === PLUGIN_KEYS && (plugin as { type: unknown }).type === PLUGIN_TYPE;
}
