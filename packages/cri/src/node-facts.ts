/** Facts of a node in the words of the interface; every runtime needs the same. */
import type { Clock } from '@podwire/platform';
import type { DNSConfig, NetworkInterfaceUsage } from './messages.js';

/** Nanoseconds since 1970. */
export const nowNanoseconds = (clock: Pick<Clock, 'now'>): bigint =>
  BigInt(Math.round(clock.now() * 1000)) * 1000n;

/** A resolv.conf (resolv.conf(5)); an empty text when nothing is asked for. */
export function formatResolvConf({ servers, searches, options }: DNSConfig): string {
  const line = (word: string, values: readonly string[]): string =>
    values.length === 0 ? '' : `${word} ${values.join(' ')}\n`;
  const nameservers = servers.map((server) => `nameserver ${server}\n`);
  return nameservers.join('') + line('search', searches) + line('options', options);
}

/** proc(5), net/dev: two lines of headings, then a name and sixteen counters in a line. */
export function parseNetDev(text: string): NetworkInterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, counters = ''] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const values = counters.trim().split(/\s+/);
    if (values.length < 11) return [];
    const [rxBytes, , rxErrors, , , , , , txBytes, , txErrors] = values.map((each) => ({
      value: BigInt(each),
    }));
    return [{ name, rxBytes, rxErrors, txBytes, txErrors }];
  });
}
