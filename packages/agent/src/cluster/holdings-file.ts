import type { HoldingsFile, HoldingsStore } from '@podwire/cluster-ipam';
import { z } from 'zod';
import { readJson, type StateFiles } from './state-files.js';

const fileName = 'holdings.json';

const schema = z.object({
  version: z.literal(1),
  node: z.string(),
  instance: z.string(),
  holdings: z.array(
    z.object({ cidr: z.string(), state: z.enum(['pending', 'confirmed', 'pendingDeletion']) }),
  ),
  pools: z.array(z.unknown()),
  confirmedAt: z.number(),
});

/**
 * What the node knows of its own blocks, in the state directory. A file of another name or instance is as good as none: it
 * was not written in this life of the node.
 */
export function openHoldings(files: StateFiles, node: string, instance: string): HoldingsStore {
  return {
    read() {
      const found = schema.safeParse(readJson(files, fileName));
      if (!found.success || found.data.node !== node || found.data.instance !== instance) return undefined;
      // The fields that this version does not know may be a newer addressing's.
      return readJson(files, fileName) as HoldingsFile;
    },
    write: (file) => files.write(fileName, JSON.stringify(file)),
  };
}
