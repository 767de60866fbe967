import { compact } from '@podwire/platform';
import type { NetworkConfig, PluginConfig } from '../config/network.js';
import type { Attachment } from '../request.js';
import type { JsonObject } from '../shape.js';

/** The fields of one plugin's request besides its own configuration. */
export interface Injection {
  /** Result of the plugin before (ADD) or of the whole ADD (DEL, CHECK), as it was printed. */
  readonly prevResult?: unknown;
  /** All capability arguments; each plugin gets those it declares. */
  readonly capabilityArgs?: JsonObject;
  /** For GC; null: none is sent. */
  readonly validAttachments?: readonly Attachment[] | null;
}

/**
 * The JSON for a plugin's standard input (specification, section 3, "Deriving request configuration from plugin
 * configuration"): the plugin's object with the network's `name` and `cniVersion`; `prevResult`, `runtimeConfig` and
 * `cni.dev/valid-attachments` as the operation has them; without `capabilities` and other `cni.dev/` keys.
 */
export function deriveRequestConfig(
  network: NetworkConfig,
  plugin: PluginConfig,
  injection: Injection = {},
): string {
  const runtimeConfig = deriveRuntimeConfig(plugin, injection.capabilityArgs ?? {});
  return JSON.stringify({
    ...passedThrough(plugin),
    cniVersion: network.cniVersion,
    name: network.name,
    ...compact({ runtimeConfig, prevResult: injection.prevResult }),
    ...attachmentKeys(injection.validAttachments ?? null),
  });
}

function passedThrough(plugin: PluginConfig): JsonObject {
  const own = Object.entries(plugin).filter(
    ([key]) => key !== 'capabilities' && key !== 'prevResult' && !key.startsWith('cni.dev/'),
  );
  return Object.fromEntries(own);
}

/** Section 3, "Deriving runtimeConfig": what the plugin declares and the runtime has; undefined when that is nothing. */
function deriveRuntimeConfig(plugin: PluginConfig, args: JsonObject): JsonObject | undefined {
  const wanted = Object.entries(plugin.capabilities ?? {}).filter(
    ([name, on]) => on && Object.hasOwn(args, name),
  );
  return wanted.length === 0 ? undefined : Object.fromEntries(wanted.map(([name]) => [name, args[name]]));
}

/** Under both names: Go's plugins once read the one that the specification did not have (cni #1101). */
function attachmentKeys(valid: readonly Attachment[] | null): JsonObject {
  if (valid === null) return {};
  const list = valid.map(({ containerId, interfaceName }) => ({
    containerID: containerId,
    ifname: interfaceName,
  }));
  return { 'cni.dev/valid-attachments': list, 'cni.dev/attachments': list };
}
