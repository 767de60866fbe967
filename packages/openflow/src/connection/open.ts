import net from 'node:net';
import type { Duplex } from 'node:stream';
import { StreamConnection } from './connection.js';
import type { RequestOptions, SwitchConnection } from './switch-connection.js';

export interface OpenOptions {
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal;
  /** milliseconds that any request may take when it says nothing else; 10 seconds when absent */
  readonly timeout?: number;
}

const DEFAULT_TIMEOUT = 10_000;

/**
 * Connects to the management socket of a bridge, `BRIDGE.mgmt` in the run directory of ovs-vswitchd. OpenFlow14 must be
 * among the `protocols` of the bridge.
 * @throws Error of the system (`ENOENT`, `ECONNREFUSED`); SwitchError `OFPHFC_INCOMPATIBLE`; OpenFlowError `ETIMEDOUT`
 */
export function openSwitch(socket: string, options: OpenOptions = {}): Promise<SwitchConnection> {
  return connectSwitch(net.connect({ path: socket }), options);
}

/** Speaks over a stream that leads to a switch, such as one of a fake switch. It belongs to the connection. */
export async function connectSwitch(stream: Duplex, options: OpenOptions = {}): Promise<SwitchConnection> {
  const { signal, timeout = DEFAULT_TIMEOUT } = options;
  const connection = new StreamConnection(stream, timeout);
  const request: RequestOptions = signal === undefined ? {} : { signal };
  try {
    await connection.start(request);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
