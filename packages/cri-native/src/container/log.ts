import { CriError } from '@podwire/cri';
import type { Context } from '../context.js';
import { needRunning } from '../state/inventory.js';

/**
 * Lets the shim reopen the log after it was rotated.
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION when it does not run, UNKNOWN when the file cannot be opened
 */
export async function reopenLog(context: Context, id: string): Promise<void> {
  const { shim, record } = needRunning(context.inventory, id);
  try {
    await shim.connection.call('L');
  } catch (cause) {
    throw new CriError('UNKNOWN', `the log of ${record.id} cannot be opened: ${String(cause)}`, { cause });
  }
}
