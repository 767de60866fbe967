import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { orAborted, withDeadline } from '@podwire/platform';
import type { OpenRecord } from './record.js';
import type { DemoNamespace } from './namespaces.js';
import type { PeerAnswer, PeerMessage, PeerOrder, PeerProtocol, PeerSettings } from './peer-messages.js';

/** A question's outcome. */
export interface Asked {
  /** From connecting to the whole answer. */
  readonly milliseconds: number;
  readonly answer?: PeerAnswer;
  readonly error?: string;
}

/** Count of the receiver of a transfer. */
export interface Poured {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** A process inside a namespace that answers and asks. */
export interface Peer {
  readonly name: string;
  ask(protocol: PeerProtocol, address: string, port: number): Promise<Asked>;
  /** Sends so many bytes by TCP. @throws PodwireError DEADLINE_EXCEEDED when they are not received */
  pour(address: string, port: number, bytes: number): Promise<Poured>;
  /** Lets it live on without the demo. */
  release(): void;
}

type Outcome = Exclude<PeerMessage, 'ready'>;
type Order = PeerOrder extends infer T ? (T extends PeerOrder ? Omit<T, 'id'> : never) : never;

/** Milliseconds. */
const readyDeadline = 20_000;

/**
 * Starts a peer; resolves when it serves its ports.
 * @throws PodwireError INTERNAL when it ends instead, DEADLINE_EXCEEDED when it does neither in time; the signal's reason
 */
export async function startPeer(
  namespace: DemoNamespace,
  settings: PeerSettings,
  record: OpenRecord,
  signal: AbortSignal,
): Promise<Peer> {
  const child = forkInside(namespace, settings, path.join(record.current.directory, `${settings.name}.log`));
  if (child.pid !== undefined) record.note({ process: { what: settings.name, pid: child.pid } });
  const waiting = new Map<number, (outcome: Outcome) => void>();
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, killer) => {
      reject(new PodwireError('INTERNAL', `the process in ${namespace.name} has ended (${killer ?? code})`));
      for (const [id, finish] of waiting) finish({ id, error: 'the process has ended', milliseconds: 0 });
    });
    child.on('message', (message: PeerMessage) => {
      if (message === 'ready') resolve();
      else waiting.get(message.id)?.(message);
    });
  });
  await withDeadline(signal, readyDeadline, (either) => orAborted(ready, either)).catch((error: unknown) => {
    if ((error as Error).name !== 'TimeoutError') throw error;
    const message = `the process in ${namespace.name} gave no sign within ${readyDeadline} ms`;
    throw new PodwireError('DEADLINE_EXCEEDED', message);
  });
  let lastId = 0;
  const order = (what: Order): Promise<Outcome> => {
    const id = ++lastId;
    return new Promise((resolve) => {
      waiting.set(id, (outcome) => {
        waiting.delete(id);
        resolve(outcome);
      });
      child.send({ ...what, id });
    });
  };
  return {
    name: settings.name,
    async ask(protocol, address, port) {
      const outcome = await order({ kind: 'ask', protocol, address, port });
      const { milliseconds } = outcome;
      if ('error' in outcome) return { milliseconds, error: outcome.error };
      return { milliseconds, answer: outcome.value as PeerAnswer };
    },
    async pour(address, port, bytes) {
      const outcome = await order({ kind: 'pour', address, port, bytes });
      if ('error' in outcome) {
        throw new PodwireError('DEADLINE_EXCEEDED', `${settings.name} to ${address}: ${outcome.error}`);
      }
      return outcome.value as Poured;
    },
    release() {
      child.send('stay');
      child.unref();
    },
  };
}

function forkInside(namespace: DemoNamespace, settings: PeerSettings, log: string): ChildProcess {
  const file = path.join(import.meta.dirname, 'peer.js');
  const output = fs.openSync(log, 'a', 0o600);
  try {
    // A group of its own: Ctrl-C is for the demo, which puts things away in order.
    return namespace.inside(() =>
      fork(file, [JSON.stringify(settings)], {
        detached: true,
        stdio: ['ignore', output, output, 'ipc'],
        execArgv: [],
      }),
    );
  } finally {
    fs.closeSync(output);
  }
}
