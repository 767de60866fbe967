/** What tests claim about a path. What passes is sent again until it has; what does not is counted, never waited for. */
import assert from 'node:assert/strict';
import type { TestNamespace } from './namespaces.js';
import { pings } from './ping.js';
import { generous } from './send-again.js';
import { ask, askOnce, type Endpoint, type Protocol, serveEcho, UnreachableError } from './traffic.js';
import { until } from './until.js';

/** What is sent; a datagram to the discard port (9) when nothing else is said. */
export interface Attempt {
  readonly protocol?: Protocol;
  readonly port?: number;
  /** The source address; the kernel's choice when absent. */
  readonly source?: string;
  /** Where it would come out when its destination is translated on the way. */
  readonly arrival?: Endpoint;
  /** Who sends the markers when the sender itself gets no answer to anything. */
  readonly markers?: TestNamespace;
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
 * No packet arrives. Each is followed by markers that do arrive, from one machine of the way to the next: queues keep
 * the order, so by then the packet would be there. The receiver's kernel counts, since silence only takes time.
 */
export async function assertBlocked(
  from: TestNamespace,
  to: TestNamespace,
  address: string,
  way: readonly Hop[],
  attempt: Attempt = {},
): Promise<void> {
  await withCounter(to, address, attempt, async (count) => {
    for (let sent = 0; sent < packets; sent += 1) {
      await send(from, address, attempt);
      await sendMarkers(attempt.markers ?? from, way, attempt.arrival?.address ?? address);
    }
    const what = `arrived from ${from.name} at ${address}, of ${packets} packets`;
    assert.equal(await count(), 0, what);
  });
}

async function sendMarkers(from: TestNamespace, way: readonly Hop[], address: string): Promise<void> {
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
  { protocol = 'udp', port = 9, source }: Attempt,
): Promise<void> {
  const options = { timeout: 1, ...(source === undefined ? {} : { from: source }) };
  await askOnce(from, protocol, address, port, options).catch((error: unknown) => {
    if (!(error instanceof UnreachableError) || !sentCodes.includes(error.code)) throw error;
  });
}

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
  const rule = `${from} ${family} daddr ${arrival.address} ${protocol} dport ${arrival.port} counter`;
  const chain = `chain seen { type filter hook input priority 300; ${rule}; }`;
  await to.run(['nft', '-f', '-'], { input: `table inet arrivals { ${chain}; }\n` });
  try {
    await work(async () =>
      Number(/packets (\d+)/.exec(await to.run(['nft', 'list', 'table', 'inet', 'arrivals']))?.[1]),
    );
  } finally {
    await to.run(['nft', 'delete', 'table', 'inet', 'arrivals']);
  }
}
