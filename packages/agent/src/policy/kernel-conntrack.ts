/** The connection tracking table of the node, for policy. */
import type { Kernel } from '@podwire/backend-linux';
import { compact } from '@podwire/platform';
import type { ConntrackCuts } from './contract.js';

export const createConntrackCuts = ({ conntrack }: Pick<Kernel, 'conntrack'>): ConntrackCuts => ({
  async forget(addresses, signal) {
    await conntrack.deleteEntries(
      ({ original, reply }) =>
        [original.source, original.destination, reply.source, reply.destination].some((each) =>
          addresses.has(each),
        ),
      { signal },
    );
  },
  deleteWhere: (isDenied, signal) =>
    conntrack.deleteEntries(
      // The source of the reply is the destination of the packet after translation.
      ({ original, reply }) =>
        isDenied(
          compact({
            source: original.source,
            destination: reply.source,
            protocol: original.protocol,
            sourcePort: original.sourcePort,
            destinationPort: reply.sourcePort,
          }),
        ),
      { signal },
    ),
});
