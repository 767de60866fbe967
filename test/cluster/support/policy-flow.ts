/** Established flows between two pods that are never to lose anything: datagrams with numbers that are echoed, and a TCP stream. */
import net from 'node:net';
import { addressToBytes, familyOf, parseAddress } from '@podwire/addresses';
import { bindAddress, openStreamSocket } from '@podwire/linux';
import type { TestbedPod } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import { openSocket } from './policy-flood.js';

/** Milliseconds between two packets. */
const interval = 20;

export interface FlowReport {
  readonly what: string;
  readonly sent: number;
  /** Numbers that did not come to the receiver, and those that were not answered. */
  readonly lost: readonly number[];
  readonly unanswered: readonly number[];
  /** Why it has ended before its time; undefined otherwise. */
  readonly broken?: string | undefined;
  /** The longest time without anything new, milliseconds. */
  readonly stall: number;
}

export interface Flow {
  /** Waits for what is on its way. */
  end(): Promise<FlowReport>;
}

/** Counts packets sent, arrived and answered. */
class Tally {
  readonly arrived = new Set<number>();
  readonly answered = new Set<number>();
  sent = 0;
  stall = 0;
  broken: string | undefined;
  #last = performance.now();
  #sentAt = performance.now();

  next(): number {
    const now = performance.now();
    // Where this process itself stood still, nothing was sent, and nothing could come.
    if (now - this.#sentAt > 10 * interval) this.#last = now;
    this.#sentAt = now;
    return this.sent++;
  }

  note(number: number): void {
    this.answered.add(number);
    this.stall = Math.max(this.stall, performance.now() - this.#last);
    this.#last = performance.now();
  }

  async end(what: string): Promise<FlowReport> {
    const isComplete = (): boolean => this.answered.size === this.sent || this.broken !== undefined;
    await eventually(`${what}: every answer has come`, isComplete, { timeout: 5_000 }).catch(() => undefined);
    const all = Array.from({ length: this.sent }, (_, number) => number);
    const missing = (there: ReadonlySet<number>): number[] => all.filter((number) => !there.has(number));
    const { sent, stall, broken } = this;
    return { what, sent, stall, broken, lost: missing(this.arrived), unanswered: missing(this.answered) };
  }
}

/** The first answer has come when it resolves. */
export async function startDatagrams(from: TestbedPod, to: TestbedPod, family: 4 | 6): Promise<Flow> {
  const [source, destination] = [addressOf(from, family), addressOf(to, family)];
  const tally = new Tally();
  const port = takePort();
  const server = await openSocket(to, destination, port);
  server.on('message', (data, peer) => {
    tally.arrived.add(Number(data.toString()));
    server.send(data, peer.port, peer.address, () => undefined);
  });
  const client = await openSocket(from, source, port);
  client.on('message', (data) => tally.note(Number(data.toString())));
  const send = (number: number): void => client.send(String(number), port, destination, () => undefined);
  const first = tally.next();
  await eventually('the flow is established', () => {
    send(first);
    return tally.answered.has(first);
  });
  const timer = setInterval(() => send(tally.next()), interval);
  return {
    async end() {
      clearInterval(timer);
      const report = await tally.end(`UDP IPv${family} ${from.name} → ${to.name}`);
      server.close();
      client.close();
      return report;
    },
  };
}

/** The same with lines over TCP. */
export async function startStream(from: TestbedPod, to: TestbedPod, family: 4 | 6): Promise<Flow> {
  const [source, destination] = [addressOf(from, family), addressOf(to, family)];
  const tally = new Tally();
  const port = takePort();
  const server = net.createServer((socket) => {
    socket.on('error', ({ message }) => (tally.broken ??= `the server: ${message}`));
    readNumbers(socket, (number) => {
      tally.arrived.add(number);
      socket.write(`${number}\n`);
    });
  });
  const listening = to.network.inside(() => openStreamSocket(family));
  bindAddress(listening, addressToBytes(parseAddress(destination)), port);
  await new Promise<void>((resolve) => server.listen({ fd: listening }, resolve));
  const fd = from.network.inside(() => openStreamSocket(family));
  bindAddress(fd, addressToBytes(parseAddress(source)));
  const client = new net.Socket({ fd }).connect({ host: destination, port });
  client.on('error', ({ message }) => (tally.broken ??= `the client: ${message}`));
  client.once('close', () => (tally.broken ??= 'it was closed'));
  readNumbers(client, (number) => tally.note(number));
  const send = (): void => void client.write(`${tally.next()}\n`);
  send();
  await eventually('the stream is established', () => tally.answered.size > 0);
  const timer = setInterval(send, interval);
  return {
    async end() {
      clearInterval(timer);
      const report = await tally.end(`TCP IPv${family} ${from.name} → ${to.name}`);
      client.destroy();
      server.close();
      return report;
    },
  };
}

let lastPort = 6000;
const takePort = (): number => ++lastPort;

const addressOf = (pod: TestbedPod, family: 4 | 6): string =>
  pod.addresses.find((each) => familyOf(each) === family) ?? '';

function readNumbers(socket: net.Socket, take: (number: number) => void): void {
  let rest = '';
  socket.on('data', (data) => {
    const lines = (rest + data.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(Number(line));
  });
}
