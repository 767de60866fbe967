/** Environment of a compliance case, whichever switch it runs on: a bridge without flows, with ports 1 to 9. */
import { type Change, type Flow, type MeterMod, type SwitchConnection, SwitchError } from '@podwire/openflow';

export interface Case {
  readonly name: string;
  readonly run: (connection: SwitchConnection) => Promise<void>;
}

export type Request = Change | MeterMod;

/** Sends one request, and returns the name of the error or `ok`. */
export async function outcome(connection: SwitchConnection, request: Request): Promise<string> {
  try {
    await connection.send([request]);
    return 'ok';
  } catch (error) {
    if (error instanceof SwitchError) return error.code;
    throw error;
  }
}

/** The flows in an order that does not depend on the switch. */
export async function listFlows(connection: SwitchConnection): Promise<Flow[]> {
  const keyOf = ({ table, priority, match }: Flow): string => JSON.stringify([table, priority, match]);
  const flows = (await connection.dump('flow')).map(({ flow }) => flow);
  return flows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
