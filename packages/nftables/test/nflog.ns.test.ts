/** Packets that a rule logs, of a real kernel. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type NamespaceHandle, openNamespace } from '@podwire/linux';
import {
  type Command,
  type LoggedPacket,
  type Nftables,
  openNftables,
  openPacketLog,
  type PacketLog,
} from '@podwire/nftables';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { deadline } from './deadline.js';

const GROUP = 5;
const place = { family: 'inet', table: 'l' } as const;
const commands: readonly Command[] = [
  { op: 'add-table', family: 'inet', name: 'l' },
  {
    op: 'put-chain',
    ...place,
    chain: {
      name: 'out',
      base: { type: 'filter', hook: 'output', priority: 0 },
      rules: [
        {
          statements: [
            { is: 'match', field: 'oifname', value: 'lo' },
            { is: 'set-mark', target: 'mark', value: 0x1234 },
            { is: 'log', group: GROUP, prefix: 'default/deny', snaplen: 128 },
            { is: 'drop' },
          ],
        },
      ],
    },
  },
];

let host: PrivateHost;
let namespace: NamespaceHandle;
let nftables: Nftables;
let log: PacketLog;

before(async () => {
  host = await createPrivateHost({ name: 'nflog' });
  namespace = openNamespace(host.namespace.path);
  nftables = openNftables({ namespace });
  await host.namespace.ip('link set lo up');
  nftables.transact(commands);
  log = openPacketLog({ group: GROUP, namespace, interval: 5 });
});

after(async () => {
  log?.close();
  nftables?.close();
  namespace?.close();
  await host?.close();
});

/** Each line of bash writes one datagram, which is dropped. */
async function send(...targets: readonly string[]): Promise<void> {
  const script = targets.map((target) => `(echo hello >/dev/udp/${target}) 2>/dev/null || true`).join('\n');
  await host.namespace.run(['bash', '-c', script]);
}

async function next(count: number): Promise<LoggedPacket[]> {
  const found: LoggedPacket[] = [];
  for await (const packet of log.follow(deadline().signal)) {
    found.push(packet);
    if (found.length === count) break;
  }
  return found;
}

describe('the packet log', () => {
  it('tells who sent what to whom, where, and by which rule it was logged', async () => {
    await send('127.0.0.1/9001', '::1/9002');
    const [four, six] = await next(2);
    assert.equal(four?.prefix, 'default/deny');
    assert.equal(four.mark, 0x1234);
    assert.equal(four.outLink, 1);
    assert.equal(four.inLink, undefined);
    const { sourcePort, ...packet } = four.packet!;
    assert.ok(sourcePort! > 0);
    assert.deepEqual(packet, {
      ...{ family: 4, source: '127.0.0.1', destination: '127.0.0.1', protocol: 'udp' },
      ...{ destinationPort: 9001, length: 34 },
    });
    assert.deepEqual(
      [six?.packet?.family, six?.packet?.destination, six?.packet?.destinationPort, six?.packet?.length],
      [6, '::1', 9002, 54],
    );
    assert.equal(log.lost, 0);
  });

  it('cannot be had twice in one namespace', () => {
    assert.throws(() => openPacketLog({ group: GROUP, namespace }), { code: 'EPERM' });
    openPacketLog({ group: GROUP + 1, namespace }).close();
  });

  it('ends with its signal', async () => {
    const found: LoggedPacket[] = [];
    for await (const packet of log.follow(AbortSignal.timeout(20))) found.push(packet);
    assert.deepEqual(found, []);
  });

  it('counts what was lost because too much had waited', async () => {
    log.close();
    log = openPacketLog({ group: GROUP, namespace, buffer: 4096 });
    const script = 'for i in {1..3000}; do echo hello >/dev/udp/127.0.0.1/9001; done 2>/dev/null || true';
    await host.namespace.run(['bash', '-c', script]);
    let seen = 0;
    let last = -1;
    const { signal } = deadline();
    // The last packets may still wait in the kernel.
    while (last < 2_999 - 256 && !signal.aborted) {
      await send('127.0.0.1/9001');
      for (const { sequence } of log.read(10_000)) {
        seen++;
        last = sequence;
      }
    }
    assert.ok(log.lost > 0, 'nothing was lost');
    assert.equal(seen + log.lost, last + 1);
  });
});
