import { setTimeout } from 'node:timers/promises';
import type { NamespaceReference } from '@podwire/linux';
import { NETLINK_NETFILTER, type NetlinkEvents, openNetlinkEvents } from '@podwire/netlink';
import { translating } from '../errors.js';
import { bindRequests, decodePacket, type LoggedPacket } from './codec.js';

export interface PacketLogOptions {
  /** The group that rules log to (`log group 5`), 0 to 65535. One socket can have it. */
  readonly group: number;
  /** The network namespace of the rules; the caller's own when absent. It may be closed afterwards. */
  readonly namespace?: NamespaceReference | undefined;
  /** Bytes of each packet that are looked at; 128 when absent, enough for the headers. */
  readonly snaplen?: number;
  /** Bytes of packets that may wait to be read; 1 MiB when absent. What does not fit is lost, and counted. */
  readonly buffer?: number;
  /** Milliseconds between two looks while nothing comes; 50 when absent. */
  readonly interval?: number;
}

/** Packets that rules have logged to a group. */
export interface PacketLog {
  /** Packets that were logged and got lost, because too many had waited, up to the last one that was read. */
  readonly lost: number;
  /** Packets since the last call, at most about so many; never waits. */
  read(limit: number): LoggedPacket[];
  /** All that comes, until the signal fires. The reader's pace is its own: what it does not fetch waits, and is lost in the end. */
  follow(signal: AbortSignal): AsyncGenerator<LoggedPacket, void, void>;
  close(): void;
}

const SNAPLEN = 128;
const BUFFER = 1 << 20;
const INTERVAL = 50;
const AT_ONCE = 256;

/**
 * Binds to a group of the packet log. Packets come from the call on.
 * @throws NftablesError `EPERM` when another socket has the group, or without CAP_NET_ADMIN
 */
export function openPacketLog(options: PacketLogOptions): PacketLog {
  const { group, namespace, snaplen = SNAPLEN, buffer = BUFFER, interval = INTERVAL } = options;
  const events = translating(`bind to log group ${group}, which another program may have`, () =>
    openNetlinkEvents({
      ...{ protocol: NETLINK_NETFILTER, groups: [], namespace, buffer },
      requests: bindRequests(group, snaplen),
    }),
  );
  return new KernelPacketLog(events, interval);
}

class KernelPacketLog implements PacketLog {
  readonly #events: NetlinkEvents;
  readonly #interval: number;
  #lost = 0;
  #next = 0;

  constructor(events: NetlinkEvents, interval: number) {
    this.#events = events;
    this.#interval = interval;
  }

  get lost(): number {
    return this.#lost;
  }

  read(limit: number): LoggedPacket[] {
    return this.#events.read(limit).events.flatMap((event) => {
      // Any process with CAP_NET_ADMIN in the namespace can send to the socket; port 0 is the kernel.
      const packet = event.port === 0 ? decodePacket(event) : undefined;
      if (packet === undefined) return [];
      this.#count(packet);
      return [packet];
    });
  }

  #count({ sequence }: LoggedPacket): void {
    this.#lost += (sequence - this.#next) >>> 0;
    this.#next = (sequence + 1) >>> 0;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<LoggedPacket, void, void> {
    while (!signal.aborted) {
      const packets = this.read(AT_ONCE);
      yield* packets;
      if (packets.length === 0) await pause(this.#interval, signal);
    }
  }

  close(): void {
    this.#events.close();
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}
