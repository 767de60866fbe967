/** Asks ovs-vswitchd for the way of a packet, over its control socket. */
import { findControlSocket, openControl, readTrace, type Trace } from '@podwire/unixctl';
import { explainControlFailure } from '../flows/failure.js';
import type { ReadOptions } from '../flows/read.js';

export interface TracePlace {
  readonly bridge: string;
  /** The run directory of ovs-vswitchd. */
  readonly runDir: string;
  /** Its control socket, where the run directory does not tell it. */
  readonly target?: string | undefined;
}

/**
 * @param packet as `ofproto/trace` takes it
 * @throws PodwireError SWITCH_UNAVAILABLE, PRIVILEGE_MISSING; the reason of the signal
 */
export async function tracePacket(place: TracePlace, packet: string, options: ReadOptions): Promise<Trace> {
  try {
    return await ask(place, packet, options);
  } catch (error) {
    throw options.signal.aborted ? error : explainControlFailure(error, options.timeout);
  }
}

async function ask(place: TracePlace, packet: string, { signal, timeout }: ReadOptions): Promise<Trace> {
  const socket = place.target ?? (await findControlSocket(place.runDir, 'ovs-vswitchd'));
  const control = await openControl(socket, { signal, timeout: timeout * 1_000 });
  try {
    return readTrace(await control.call('ofproto/trace', [place.bridge, packet], { signal }));
  } finally {
    control.close();
  }
}
