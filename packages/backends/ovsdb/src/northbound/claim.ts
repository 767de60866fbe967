/**
 * One writer at a time: its name is in the row of the whole database, and each of its transactions passes only while it is
 * there. A program that was stopped, and goes on when another one has taken over, changes nothing any more.
 */
import { PodwireError } from '@podwire/errors';
import { silentError } from '../errors.js';
import type { DatabaseLink, Guard } from '../rows/link.js';

const GLOBAL = 'NB_Global';
const KEY = 'podwire-writer';

/** A condition of transactions. Without rows to compare with, `!=` is: there is a row. */
const guardFor = (writer: string): Guard => ({
  operation: {
    ...{ op: 'wait', table: GLOBAL, columns: ['external_ids'], until: '!=', rows: [] },
    where: [['external_ids', 'includes', { [KEY]: writer }]],
  },
  refuse: (cause) =>
    new PodwireError('STORE_CONFLICT', 'another controller writes the database OVN_Northbound by now', {
      cause,
    }),
});

/** Also in a database that ovn-northd has not seen yet. @throws PodwireError BACKEND_SILENT; the signal's reason */
export async function claim(link: DatabaseLink, writer: string, signal: AbortSignal): Promise<void> {
  try {
    await link.writePair(GLOBAL, [KEY, writer], { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw silentError(link.description.database, error);
  }
  link.guard = guardFor(writer);
}
