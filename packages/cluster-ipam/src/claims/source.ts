/** What a network's IPAM gets its blocks from: what was claimed ahead. Never waits. */
import { containsAddress, containsPrefix, formatPrefix } from '@podwire/addresses';
import type { BlockSource } from '@podwire/ipam';
import type { Core } from '../core.js';
import type { Held } from '../holdings/book.js';
import { lentOf, noteLoans } from '../holdings/sync.js';

export function createSource(core: Core, network: string): BlockSource {
  const { book, clock } = core;
  return {
    claim(pool, holding) {
      const held = book
        .stock()
        .find(({ prefix }) =>
          holding === undefined ? containsPrefix(pool.prefix, prefix) : containsAddress(prefix, holding),
        );
      if (held === undefined || !containsPrefix(pool.prefix, held.prefix) || !isReady(core, network, held))
        return undefined;
      held.isOpen = true;
      noteLoans(core, network, held);
      core.wake();
      return held.prefix;
    },
    giveBack(_, block) {
      const held = book.get(formatPrefix(block));
      if (held === undefined) return;
      held.isOpen = false;
      held.since = clock.elapsed();
    },
  };
}

/** What is lent of a block must be known to IPAM before it hands anything out. */
const isReady = (core: Core, network: string, held: Held): boolean =>
  core.ipams.has(network) || lentOf(core, held).length === 0;
