/**
 * Cost of changes of elements and of deletions of connection tracking entries. Run as root:
 *
 *     node packages/nftables/dist/test/cost.bench.js
 */
import { createNamespace, deleteNamespace, openNamespace, warmThreadPool } from '@podwire/linux';
import { NETLINK_NETFILTER, type NetlinkConnection, openNetlinkConnection } from '@podwire/netlink';
import {
  createConntrack,
  createNftables,
  type ElementChange,
  openConntrack,
  type Value,
} from '@podwire/nftables';
import type { Connection } from './conntrack-compliance.js';
import { insertConnections } from './conntrack-insert.js';
import { withoutFilteredDelete } from './older-kernels.js';

const ROUNDS = 400;
const signal = AbortSignal.timeout(600_000);
const body = `
  map hostports4 { type inet_proto . inet_service : ipv4_addr . inet_service; }
  map hostports6 { type inet_proto . inet_service : ipv6_addr . inet_service; }
  map wide { type ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service; }
  chain a { type nat hook prerouting priority dstnat; dnat ip to meta l4proto . th dport map @hostports4; }
`;

const microseconds = (from: bigint): number => Number(process.hrtime.bigint() - from) / 1000;
const quantile = (sorted: number[], q: number): string => sorted[Math.floor(sorted.length * q)]!.toFixed(1);

function summary(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  return `p50 ${quantile(sorted, 0.5)}  p99 ${quantile(sorted, 0.99)} µs`;
}

function wide(op: ElementChange['op'], n: number): ElementChange {
  const key: Value[] = [
    { type: 'ipv4_addr', value: `10.1.${n >> 8}.${n & 255}` },
    { type: 'inet_proto', value: 'tcp' },
    { type: 'inet_service', value: 80 },
  ];
  const value: Value[] = [
    { type: 'ipv4_addr', value: '10.0.0.1' },
    { type: 'inet_service', value: 80 },
  ];
  return { op, family: 'inet', table: 'bench', set: 'wide', key, value };
}

function hostPort(op: ElementChange['op'], family: 4 | 6, port: number): ElementChange {
  const key: Value[] = [
    { type: 'inet_proto', value: 'tcp' },
    { type: 'inet_service', value: port },
  ];
  const address: Value =
    family === 4 ? { type: 'ipv4_addr', value: '10.0.0.1' } : { type: 'ipv6_addr', value: 'fd00:244::1' };
  const value: Value[] = [address, { type: 'inet_service', value: 80 }];
  return { op, family: 'inet', table: 'bench', set: `hostports${family}`, key, value };
}

/** Adds up the time that is spent in the exchange with the kernel. */
function timed(connection: NetlinkConnection): { connection: NetlinkConnection; take: () => number } {
  let spent = 0;
  const request: NetlinkConnection['request'] = (requests) => {
    const from = process.hrtime.bigint();
    try {
      return connection.request(requests);
    } finally {
      spent += microseconds(from);
    }
  };
  const take = (): number => {
    const result = spent;
    spent = 0;
    return result;
  };
  return {
    connection: {
      request,
      dump: (one) => connection.dump(one),
      requestAsync: (all, abort) => connection.requestAsync(all, abort),
      portId: () => connection.portId(),
      close: () => connection.close(),
    },
    take,
  };
}

const file = `/run/netns/pw-nft-bench-${process.pid}`;
await warmThreadPool();
createNamespace(file);
const namespace = openNamespace(file);
try {
  await measureElements();
  await measureConntrack();
} finally {
  namespace.close();
  deleteNamespace(file);
}

async function measureElements(): Promise<void> {
  const netlink = timed(openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace }));
  const nftables = createNftables(netlink.connection, { namespace });
  for (const size of [10, 1_000, 20_000]) {
    nftables.deleteTable('inet', 'bench');
    await nftables.applyTable({ family: 'inet', name: 'bench', body }, { signal });
    const filling = process.hrtime.bigint();
    nftables.change(Array.from({ length: size }, (_, n) => wide('create', n)));
    nftables.change(Array.from({ length: size }, (_, n) => hostPort('create', 4, n)));
    console.log(
      `\n${size} elements in each map; filling both: ${(microseconds(filling) / 1000).toFixed(1)} ms`,
    );
    const cases: Record<string, (n: number) => readonly [() => unknown, (() => unknown)?]> = {
      'add 1 element': (n) => [() => nftables.change([wide('create', 40_000 + n)])],
      'destroy 1 element': (n) => [() => nftables.change([wide('destroy', 40_000 + n)])],
      'destroy 1 absent element': (n) => [() => nftables.change([wide('destroy', 40_000 + n)])],
      'add 2 host ports in 4 elements of 2 maps': (n) => [
        () =>
          nftables.change([
            hostPort('create', 4, 40_000 + n),
            hostPort('create', 4, 50_000 + n),
            hostPort('create', 6, 40_000 + n),
            hostPort('create', 6, 50_000 + n),
          ]),
      ],
      'destroy these 4': (n) => [
        () =>
          nftables.change([
            hostPort('destroy', 4, 40_000 + n),
            hostPort('destroy', 4, 50_000 + n),
            hostPort('destroy', 6, 40_000 + n),
            hostPort('destroy', 6, 50_000 + n),
          ]),
      ],
      'get 1 element': (n) => [() => nftables.getElement(wide('create', n % 10))],
      'look for 4 elements': (n) => [
        () => nftables.hasElements([0, 1, 2, 3].map((m) => hostPort('create', 4, (n + m) % 10))),
      ],
      'refused: 1 element that is there': () => [
        () => {
          try {
            nftables.change([hostPort('create', 4, 1)]);
          } catch {
            // that is what is measured
          }
        },
      ],
      'digest of the table': () => [() => nftables.tableDigest('inet', 'bench')],
    };
    for (const [name, prepare] of Object.entries(cases)) {
      const whole: number[] = [];
      const kernel: number[] = [];
      for (let n = 0; n < ROUNDS; n++) {
        const [work] = prepare(n);
        netlink.take();
        const from = process.hrtime.bigint();
        work();
        whole.push(microseconds(from));
        kernel.push(netlink.take());
      }
      console.log(`  ${name.padEnd(44)} ${summary(whole).padEnd(30)} exchange ${summary(kernel)}`);
    }
    const listing = process.hrtime.bigint();
    nftables.listElements('inet', 'bench', 'wide');
    console.log(`  list all: ${(microseconds(listing) / 1000).toFixed(1)} ms`);
  }
  nftables.close();
}

async function measureConntrack(): Promise<void> {
  const netlink = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace });
  const conntrack = openConntrack({ namespace });
  const byHand = createConntrack(
    withoutFilteredDelete(openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace })),
  );
  let inserted = 0;
  for (const size of [1, 1_000, 50_000]) {
    insertConnections(
      netlink,
      Array.from({ length: size - inserted }, (_, n) => connection(inserted + n)),
    );
    inserted = size;
    console.log(`\n${size} connection tracking entries`);
    for (const [name, one] of [
      ['in the kernel', conntrack],
      ['entry by entry', byHand],
    ] as const) {
      const times: number[] = [];
      for (let n = 0; n < 50; n++) {
        const from = process.hrtime.bigint();
        await one.deleteConntrack([{ family: 4, protocol: 'udp', port: 9 }], { signal });
        times.push(microseconds(from));
      }
      console.log(`  delete by an unused port, ${name.padEnd(16)} ${summary(times)}`);
    }
  }
  for (const one of [netlink, conntrack, byHand]) one.close();
}

function connection(n: number): Connection {
  const from = `192.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  return { protocol: 'udp', from, to: '198.51.100.1', port: 53, pod: '10.0.0.1', podPort: 5300 };
}
