import fs from 'node:fs';

/** True if new links of the calling thread's namespace get IPv6. A kernel without IPv6 has no such file. */
export function hasIpv6(): boolean {
  try {
    return fs.readFileSync('/proc/sys/net/ipv6/conf/default/disable_ipv6', 'utf8').trim() === '0';
  } catch {
    return false;
  }
}
