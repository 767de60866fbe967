/** Where the store's servers are: no pod gets their addresses, and no block's route leads there. */
import dns from 'node:dns/promises';
import { formatAddress, tryParseAddress } from '@podwire/addresses';
import { type Clock, type Log, orAborted, withDeadline } from '@podwire/platform';
import { hostOfEndpoint } from '@podwire/store';

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

/** Milliseconds for one name, and until it is asked for again. */
const lookupWait = 5_000;
const lookAgain = 60_000;

const lookUp: Lookup = (host) => dns.lookup(host, { all: true });

export interface FollowOptions {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly log: Log;
  readonly lookup?: Lookup;
}

/**
 * Addresses of servers, by their URLs. Names are looked up in the background, and again by a call after a while; until an answer comes, and
 * when none does, what was known before holds.
 */
export function followStoreAddresses(
  endpoints: readonly string[],
  { clock, log, lookup = lookUp }: FollowOptions,
): () => readonly string[] {
  const hosts = [...new Set(endpoints.map(hostOfEndpoint))];
  const literal = hosts.filter((host) => tryParseAddress(host) !== undefined);
  const names = hosts.filter((host) => tryParseAddress(host) === undefined);
  const known = new Map<string, readonly string[]>();
  let due = -Infinity;

  async function look(name: string): Promise<void> {
    try {
      const found = await withDeadline(undefined, lookupWait, (signal) => orAborted(lookup(name), signal));
      known.set(
        name,
        found.flatMap(({ address }) => canonical(address)),
      );
    } catch (err) {
      log.debug({ err, name }, 'the address of a store server could not be looked up');
    }
  }
  return () => {
    if (names.length > 0 && clock.elapsed() >= due) {
      due = clock.elapsed() + lookAgain;
      for (const name of names) void look(name);
    }
    return [...literal, ...[...known.values()].flat()];
  };
}

function canonical(text: string): string[] {
  const address = tryParseAddress(text);
  return address === undefined ? [] : [formatAddress(address)];
}
