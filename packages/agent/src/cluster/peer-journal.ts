/** Which peers may have routes in the kernel: an agent that starts while the store is away must not take them for leftovers. */
import type { PeerView } from '@podwire/network-contract';
import { type Journal, openJournal } from '@podwire/planner';
import type { Log } from '@podwire/platform';
import { z } from 'zod';
import { journalFile, type StateFiles } from './state-files.js';

const fileName = 'peers.jsonl';

const view = z.object({
  name: z.string(),
  ipv4: z.string().optional(),
  ipv6: z.string().optional(),
  tunnel: z.object({ mac: z.string(), ipv4: z.string().optional(), ipv6: z.string().optional() }).optional(),
  mtu: z.number().optional(),
  blocks: z.array(z.string()),
  facts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
});
/** A peer as it was applied; only its name when it was removed. */
const line = z.union([view, z.object({ gone: z.string() })]);

export type PeerJournal = Journal<PeerView>;

/** @throws PodwireError RECORD_IO when it cannot be read */
export function openPeerJournal(files: StateFiles, nodeName: string, log: Log): PeerJournal {
  const journal = openJournal<PeerView>({
    file: journalFile(files, fileName),
    parse(data) {
      const read = line.safeParse(data).data;
      if (read === undefined) return undefined;
      return 'gone' in read ? { name: read.gone } : { name: read.name, value: read as PeerView };
    },
    failure: 'the peers could not be written down; an agent that restarts without the store forgets them',
    log,
  });
  // A node that has been given another's name has known its new self as a peer.
  journal.forget(nodeName);
  return journal;
}
