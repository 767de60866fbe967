/** Datagrams that pods send to each other without end, and a count of those that arrive: by receiver and sender. */
import type { TestNamespace } from './namespaces.js';
import { nativeProgram } from './native.js';

/** The discard port. */
const PORT = 9;
/** Milliseconds between two datagrams to one receiver. */
const INTERVAL = 100;

export interface Beat {
  /** Sends nothing more. */
  stop(): Promise<void>;
}

export interface BeatOptions {
  /** The source address, which the namespace must have. */
  readonly from: string;
  readonly to: readonly string[];
  /** The discard port when absent. */
  readonly port?: number;
}

/** Sends a datagram to each address, again and again. Resolves when it has begun. */
export async function startBeat(
  namespace: TestNamespace,
  { from, to, port = PORT }: BeatOptions,
): Promise<Beat> {
  const args = ['beat', String(port), String(INTERVAL), from, ...to];
  const sender = namespace.start([nativeProgram('probe'), ...args]);
  await sender.waitForOutput(/^ready /m);
  return {
    async stop() {
      sender.child.stdin?.end();
      await sender.exited;
    },
  };
}

export interface Arrivals {
  /** Datagrams to a port that have come since the beginning, by the IPv4 address of the sender. */
  count(port?: number): Promise<ReadonlyMap<string, number>>;
}

const TABLE = 'arrivals';

/** Counts datagrams that are delivered in a namespace: the kernel counts, so that none is missed. */
export async function watchArrivals(namespace: TestNamespace): Promise<Arrivals> {
  const set = 'set seen { type ipv4_addr . inet_service; flags dynamic; counter; }';
  const rule = 'update @seen { ip saddr . udp dport counter }';
  const chain = `chain input { type filter hook input priority 300; meta l4proto udp ${rule}; }`;
  await namespace.run(['nft', '-f', '-'], { input: `table ip ${TABLE} {\n${set}\n${chain}\n}\n` });
  return {
    async count(port = PORT) {
      const text = await namespace.run(['nft', '-n', 'list', 'set', 'ip', TABLE, 'seen']);
      const elements = text.matchAll(/(\d+(?:\.\d+){3}) \. (\d+) counter packets (\d+)/g);
      return new Map(
        [...elements]
          .filter(([, , to]) => Number(to) === port)
          .map(([, from, , packets]) => [from!, Number(packets)]),
      );
    },
  };
}
