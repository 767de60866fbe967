import {
  type AnyResult,
  type CachedAttachment,
  convertResult,
  parseNetwork,
  parseResult,
  type Result,
} from '@podwire/cni';
import { loopbackNetwork } from './loopback.js';

/** Addresses that the sandbox's interface got, without prefix length, in the plugin's order. */
export function addressesOf(given: AnyResult, interfaceName: string): readonly string[] {
  const { ips = [], interfaces = [] }: Result = convertResult(given);
  const own = ips.filter(({ interface: index }) => {
    const link = index === undefined ? undefined : interfaces[index];
    return link?.name === interfaceName && (link.sandbox ?? '') !== '';
  });
  // Results of old versions and of sloppy plugins do not say whose an address is.
  const chosen = own.length > 0 ? own : ips;
  return chosen.map(({ address }) => address.split('/', 1)[0] ?? address);
}

/** The same out of the cache. Undefined when it has no network but loopback. */
export function cachedAddresses(attachments: readonly CachedAttachment[]): readonly string[] | undefined {
  const attachment = attachments.find(({ network }) => network !== loopbackNetwork.name);
  if (attachment?.result === undefined) return undefined;
  try {
    // A result of before 0.3.0 need not say its version: it is that of its network.
    const { cniVersion } = parseNetwork(attachment.config);
    return addressesOf(parseResult(attachment.result, cniVersion), attachment.interfaceName);
  } catch {
    return undefined;
  }
}
