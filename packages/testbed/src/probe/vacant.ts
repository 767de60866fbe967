/** A datagram to an address that nobody has. */
import dgram from 'node:dgram';
import { bindAddress, type Family, openDatagramSocket } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { familyOf } from '../net/sockets.js';
import { type Complaint, listenToIcmp } from './icmp.js';
import type { Party } from './party.js';
import type { Outcome } from './outcome.js';

/** Milliseconds. A packet that goes in circles between two nodes has used up its hops after a few. */
const patience = 250;
/** RFC 863. */
const discardPort = 9;

/** Hears of datagrams that left the cluster, where the way out leads. */
export interface Trap {
  /** Where it listens, as nobody else does. */
  port(family: Family): number;
  hasCaught(address: string): boolean;
  close(): void;
}

/** For this, the outside must take the pools' addresses for its own: a `local` route does that. */
export function setTrap(outside: TestbedNamespace, families: readonly Family[]): Trap {
  const caught = new Set<string>();
  const sockets = new Map(
    families.map((family) => {
      const fd = outside.inside(() => openDatagramSocket(family));
      bindAddress(fd, Buffer.alloc(family === 4 ? 4 : 16));
      const socket = dgram.createSocket(`udp${family}`).bind({ fd });
      socket.on('message', (message) => void caught.add(message.toString('latin1')));
      return [family, socket.on('error', () => undefined).unref()] as const;
    }),
  );
  return {
    hasCaught: (address) => caught.has(address),
    port: (family) => sockets.get(family)?.address().port ?? discardPort,
    close: () => sockets.forEach((socket) => void socket.close()),
  };
}

/** Where a question goes, and whom it may meet. */
export interface Vacant {
  readonly address: string;
  readonly parties: readonly Party[];
  readonly trap?: Trap;
}

/**
 * Right is silence, or a refusal by a node. Wrong is an answer, a packet in circles, and a packet that left the cluster.
 */
export async function probeVacancy(
  from: TestbedNamespace,
  { address, parties, trap }: Vacant,
): Promise<Outcome> {
  const listening = listenToIcmp(from, familyOf(address));
  try {
    const failure = await sendInto(from, address, trap?.port(familyOf(address)) ?? discardPort);
    const complaints = listening.heard().filter(({ about }) => about === address);
    if (trap?.hasCaught(address) === true)
      return { ok: false, words: 'the packet left the cluster by the default route' };
    return judgeVacancy(failure, complaints, parties);
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
    // A turn later: what has come while this process had something else to do is heard first, here and by the trap.
    const timer = setTimeout(() => setImmediate(finish), patience);
    socket.once('message', () => finish('answered'));
    // Not as an argument of connect, which calls it after a failure as well.
    socket.once('connect', () => socket.send(address, fail)).once('error', fail);
    socket.connect(port, address);
  });
}

export function judgeVacancy(
  failure: string | undefined,
  complaints: readonly Complaint[],
  parties: readonly Party[],
): Outcome {
  const nameOf = (address: string): Party | undefined =>
    parties.find(({ addresses, aliases = [] }) =>
      [...Object.values(addresses), ...aliases].includes(address),
    );
  const inCircles = complaints.find(({ what }) => what === 'time exceeded');
  if (inCircles !== undefined)
    return { ok: false, words: `the packet went in circles until ${inCircles.by} had enough of it` };
  const [refusal] = complaints;
  const who = refusal === undefined ? undefined : nameOf(refusal.by);
  if (failure === 'answered') return { ok: false, words: 'somebody answers at an address that nobody has' };
  if (who?.kind === 'pod') return { ok: false, words: `${who.name} refuses at an address that nobody has` };
  if (who?.kind === 'outside')
    return { ok: false, words: `the packet left the cluster: ${refusal?.by} outside of it refuses` };
  if (refusal !== undefined) return { ok: true, words: `refused by ${who?.name ?? refusal.by}` };
  return { ok: true, words: failure === undefined ? 'dropped in silence' : `refused (${failure})` };
}
