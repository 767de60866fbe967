import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';

/** True if the prefix (or the single address) has the address. Of two families, it has not. */
export function contains(net: string, address: string): boolean {
  const prefix = parsePrefix(net.includes('/') ? net : `${net}/${net.includes(':') ? 128 : 32}`, {
    loose: true,
  });
  const member = parseAddress(address);
  return prefix.address.family === member.family && containsAddress(prefix, member);
}
