/** Probe of an unused address: the packet must be dropped or refused, not answered, not looped, not leaked. */
import dgram from 'node:dgram';
import { type Family, familyOf } from '@podwire/addresses';
import { bindAddress, openDatagramSocket } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { type Complaint, listenToIcmp } from './icmp.js';
import type { Participant } from './participant.js';
import type { Outcome } from './outcome.js';

/** Milliseconds. A routing loop between two nodes uses up the hop limit within a few. */
const patience = 250;
/** RFC 863. */
const discardPort = 9;

/** Receives datagrams that leave the cluster by the default route. */
export interface LeakListener {
  /** A port on which no other program listens. */
  port(family: Family): number;
  hasReceived(address: string): boolean;
  close(): void;
}

/** Needs a `local` route for the pools in the outside namespace. */
export function listenForLeaks(outside: TestbedNamespace, families: readonly Family[]): LeakListener {
  const received = new Set<string>();
  const sockets = new Map(
    families.map((family) => {
      const fd = outside.inside(() => openDatagramSocket(family));
      bindAddress(fd, Buffer.alloc(family === 4 ? 4 : 16));
      const socket = dgram.createSocket(`udp${family}`).bind({ fd });
      socket.on('message', (message) => void received.add(message.toString('latin1')));
      return [family, socket.on('error', () => undefined).unref()] as const;
    }),
  );
  return {
    hasReceived: (address) => received.has(address),
    port: (family) => sockets.get(family)?.address().port ?? discardPort,
    close: () => sockets.forEach((socket) => void socket.close()),
  };
}

export interface UnusedAddressProbe {
  readonly address: string;
  readonly parties: readonly Participant[];
  readonly leaks?: LeakListener;
}

/**
 * Silence, or a refusal by a node, is right. An answer, a routing loop, or a packet that left the cluster is wrong.
 */
export async function probeUnusedAddress(
  from: TestbedNamespace,
  { address, parties, leaks }: UnusedAddressProbe,
): Promise<Outcome> {
  const listening = listenToIcmp(from, familyOf(address));
  try {
    const failure = await sendInto(from, address, leaks?.port(familyOf(address)) ?? discardPort);
    const complaints = listening.heard().filter(({ about }) => about === address);
    if (leaks?.hasReceived(address) === true)
      return { ok: false, words: 'the packet left the cluster by the default route' };
    return evaluateUnusedAddress(failure, complaints, parties);
  } finally {
    listening.close();
  }
}

/** @returns the errno's name, `answered`, or nothing: silence */
function sendInto(from: TestbedNamespace, address: string, port: number): Promise<string | undefined> {
  const family: Family = familyOf(address);
  const fd = from.inside(() => openDatagramSocket(family));
  const socket = dgram.createSocket(`udp${family}`).bind({ fd });
  return new Promise((resolve) => {
    let over = false;
    const finish = (how?: string): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      socket.removeAllListeners().on('error', () => undefined);
      socket.close();
      resolve(how);
    };
    const fail = (error: Error | null): void => {
      if (error) finish((error as NodeJS.ErrnoException).code ?? error.message);
    };
    // setImmediate: packets that arrived while this process was busy are read first, here and by the leak listener.
    const timer = setTimeout(() => setImmediate(finish), patience);
    socket.once('message', () => finish('answered'));
    // Not the callback of connect, which is also called after a failure.
    socket.once('connect', () => socket.send(address, fail)).once('error', fail);
    socket.connect(port, address);
  });
}

export function evaluateUnusedAddress(
  failure: string | undefined,
  complaints: readonly Complaint[],
  parties: readonly Participant[],
): Outcome {
  const nameOf = (address: string): Participant | undefined =>
    parties.find(({ addresses, aliases = [] }) =>
      [...Object.values(addresses), ...aliases].includes(address),
    );
  const looped = complaints.find(({ what }) => what === 'time exceeded');
  if (looped !== undefined) return { ok: false, words: `the packet looped until ${looped.by} dropped it` };
  const [refusal] = complaints;
  const who = refusal === undefined ? undefined : nameOf(refusal.by);
  if (failure === 'answered') return { ok: false, words: 'the unused address answers' };
  if (who?.kind === 'pod') return { ok: false, words: `${who.name} refuses packets to an unused address` };
  if (who?.kind === 'outside')
    return { ok: false, words: `the packet left the cluster: ${refusal?.by} outside refuses it` };
  if (refusal !== undefined) return { ok: true, words: `refused by ${who?.name ?? refusal.by}` };
  return { ok: true, words: failure === undefined ? 'dropped silently' : `refused (${failure})` };
}
