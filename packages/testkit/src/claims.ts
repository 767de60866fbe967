/** Claims about a path. A packet that passes is sent until it has; one that does not is counted, never waited for. */
import assert from 'node:assert/strict';
import type { TestNamespace } from './namespaces.js';
import { pings } from './ping.js';
import { generous } from './send-again.js';
import { ask, askOnce, type Endpoint, type Protocol, serveEcho, UnreachableError } from './traffic.js';
import { until } from './until.js';

/** A packet to send; a datagram to the discard port (9) by default. */
export interface Attempt {
  /** `icmp` is an echo request. Markers may be echo requests too: `source` keeps them out of the count. */
  readonly protocol?: Protocol | 'icmp';
  readonly port?: number;
  /** The source address; the kernel's choice when absent. */
  readonly source?: string;
  /** Where it would come out when its destination is translated on the way. */
  readonly arrival?: Endpoint;
  /** Sender of the markers when the sender itself gets no answer to anything. */
  readonly markers?: TestNamespace;
  /** Takes the place of pings as markers, on a way that lets none through. Rejects when its marker does not arrive. */
  readonly sendMarker?: () => Promise<void>;
  /** Sends one packet; by default from a port of the kernel's choice. */
  readonly send?: () => Promise<void>;
}

/** A machine on the way, and the address of it that the one before it can ping. */
export interface Hop {
  readonly namespace: TestNamespace;
  readonly address: string;
}

/** How many packets have to be stopped. */
const packets = 3;

/** A datagram passes from one namespace to an address of another, and so does the answer. @throws UnreachableError */
export async function assertPasses(from: TestNamespace, to: TestNamespace, address: string): Promise<void> {
  const server = await serveEcho(to, 'udp', address, 0);
  try {
    await ask(from, 'udp', address, server.port);
  } finally {
    await server.close();
  }
}

/** The answer is no: a reset of TCP, or ICMP. A rule that drops the packet instead fails the test. */
export async function assertRefused(
  from: TestNamespace,
  protocol: Protocol,
  address: string,
  port: number,
): Promise<void> {
  await assert.rejects(ask(from, protocol, address, port), { code: 'ECONNREFUSED' });
}

/** A packet arrives, whether or not it can be answered: a forged source cannot. */
export async function assertArrives(
  from: TestNamespace,
  to: TestNamespace,
  address: string,
  attempt: Attempt = {},
): Promise<void> {
  await withCounter(to, address, attempt, async (count) => {
    const look = async (): Promise<boolean> => {
      await send(from, address, attempt);
      return (await count()) > 0;
    };
    await until(`arrived from ${from.name} at ${address}`, look, { timeout: generous });
  });
}

/**
 * No packet arrives. After the last one come markers that do arrive, from one machine of the way to the next: queues keep
 * the order, so by then each packet would be there. The receiver's kernel counts, since silence only takes time. Claims
 * about one receiver may run side by side, where `source` or `port` separates their packets.
 */
export async function assertBlocked(
  from: TestNamespace,
  to: TestNamespace,
  address: string,
  way: readonly Hop[],
  attempt: Attempt = {},
): Promise<void> {
  await withCounter(to, address, attempt, async (count) => {
    await Promise.all(Array.from({ length: packets }, () => send(from, address, attempt)));
    const {
      sendMarker = () => sendPings(attempt.markers ?? from, way, attempt.arrival?.address ?? address),
    } = attempt;
    await sendMarker();
    const what = `arrived from ${from.name} at ${address}, of ${packets} packets`;
    assert.equal(await count(), 0, what);
  });
}

async function sendPings(from: TestNamespace, way: readonly Hop[], address: string): Promise<void> {
  const senders = [from, ...way.map(({ namespace }) => namespace)];
  const targets = [...way.map((hop) => hop.address), address];
  // Only the whole way is closed; each of its parts is open.
  for (const [index, sender] of senders.entries()) {
    const target = targets[index]!;
    assert.ok(await pings(sender, target), `the marker from ${sender.name} does not arrive at ${target}`);
  }
}

/** The packet may also be refused, here or on the way. Anything else, such as a source that is not there, is a mistake. */
const sentCodes = ['ETIMEDOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM'];

/** Sends one packet and leaves: the receiver counts it. */
async function send(
  from: TestNamespace,
  address: string,
  { protocol = 'udp', port = 9, source, send: sendOne }: Attempt,
): Promise<void> {
  if (sendOne !== undefined) return sendOne();
  if (protocol === 'icmp') return void (await pings(from, address, 1));
  const options = { timeout: 1, ...(source === undefined ? {} : { from: source }) };
  await askOnce(from, protocol, address, port, options).catch((error: unknown) => {
    if (!(error instanceof UnreachableError) || !sentCodes.includes(error.code)) throw error;
  });
}

let counters = 0;

/** Counts what is delivered in a namespace: after its own filters, before any server. */
async function withCounter(
  to: TestNamespace,
  address: string,
  { protocol = 'udp', port = 9, source, arrival = { address, port } }: Attempt,
  work: (count: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const family = arrival.address.includes(':') ? 'ip6' : 'ip';
  // A translation may also give it another source.
  const isTranslated = arrival.address !== address;
  const from = source === undefined || isTranslated ? '' : `${family} saddr ${source}`;
  const echo = `${family === 'ip6' ? 'icmpv6' : 'icmp'} type echo-request`;
  const kind = protocol === 'icmp' ? echo : `${protocol} dport ${arrival.port}`;
  const chain = `chain seen { type filter hook input priority 300; ${from} ${family} daddr ${arrival.address} ${kind} counter; }`;
  const table = ['table', 'inet', `arrivals${(counters += 1)}`];
  await to.run(['nft', '-f', '-'], { input: `${table.join(' ')} { ${chain}; }\n` });
  try {
    await work(async () => Number(/packets (\d+)/.exec(await to.run(['nft', 'list', ...table]))?.[1]));
  } finally {
    await to.run(['nft', 'delete', ...table]);
  }
}
