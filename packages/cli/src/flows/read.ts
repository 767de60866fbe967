/** Everything that a bridge of Open vSwitch says of itself, over its management socket. */
import path from 'node:path';
import {
  type FlowEntry,
  openSwitch,
  OpenFlowError,
  type PortDescription,
  type TableStatistics,
} from '@podwire/openflow';
import { withDeadline } from '@podwire/platform';
import { explainFailure } from './failure.js';

export interface BridgePlace {
  readonly bridge: string;
  /** The run directory of ovs-vswitchd. */
  readonly runDir: string;
}

export interface BridgeDump {
  readonly flows: readonly FlowEntry[];
  readonly ports: readonly PortDescription[];
  readonly tables: readonly TableStatistics[];
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** seconds, for all of it */
  readonly timeout: number;
}

/** @throws PodwireError SWITCH_UNAVAILABLE, PRIVILEGE_MISSING; the reason of the signal */
export async function readBridge(place: BridgePlace, { signal, timeout }: ReadOptions): Promise<BridgeDump> {
  const socket = path.join(place.runDir, `${place.bridge}.mgmt`);
  const milliseconds = timeout * 1_000;
  const reason = (): Error => new OpenFlowError('ETIMEDOUT', `no answer for ${timeout} s`);
  try {
    return await withDeadline(signal, milliseconds, (until) => dump(socket, until, milliseconds), { reason });
  } catch (error) {
    throw signal.aborted ? error : await explainFailure(error, { ...place, socket, timeout });
  }
}

async function dump(socket: string, signal: AbortSignal, timeout: number): Promise<BridgeDump> {
  const connection = await openSwitch(socket, { signal, timeout });
  try {
    const [flows, ports, tables] = await Promise.all([
      connection.dump('flow', {}, { signal }),
      connection.dump('portDescription', undefined, { signal }),
      connection.dump('table', undefined, { signal }),
    ]);
    return { flows, ports, tables };
  } finally {
    connection.close();
  }
}
