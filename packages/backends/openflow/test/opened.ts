/** A backend on a fake switch, with a note of what it sends. */
import { createEngine } from '@podwire/engine';
import type { OpenOptions, SwitchConnection } from '@podwire/openflow';
import type { FakeSwitch } from '@podwire/openflow/fake';
import { createFlowBackend, type FlowBackendOptions } from '../src/index.js';
import { pictureOf } from './compliance-subject.js';
import { connectTo } from './fake-bridge.js';

export const call = () => ({ signal: AbortSignal.timeout(20_000) });

const ends: (() => unknown)[] = [];
/** For `afterEach` of a test file. */
export async function closeOpened(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

export async function connect(at: FakeSwitch): Promise<SwitchConnection> {
  const connection = await connectTo(at);
  ends.push(() => connection.close());
  return connection;
}

export const picture = async (at: FakeSwitch) => pictureOf(await connect(at));

export function open(at: FakeSwitch, options: Partial<FlowBackendOptions> = {}) {
  const connections: SwitchConnection[] = [];
  /** Bundles and requests of the backend, in words. */
  const sent: string[] = [];
  const openBridge = async (_: string, given: OpenOptions): Promise<SwitchConnection> => {
    const connection = await connectTo(at, given);
    const applyBundle = connection.applyBundle.bind(connection);
    const send = connection.send.bind(connection);
    connection.applyBundle = async (changes, more) => {
      sent.push(`bundle of ${changes.length}`);
      return applyBundle(changes, more);
    };
    connection.send = async (requests, more) => {
      sent.push(`${requests.length} requests`);
      return send(requests, more);
    };
    connections.push(connection);
    return connection;
  };
  const backend = createFlowBackend({ bridges: ['br0'], open: openBridge, ...options });
  const engine = createEngine({ backends: [backend] });
  ends.push(() => engine.close());
  return { backend, engine, sent, connections };
}
