import { viewEndpoint } from '../../src/api/views.js';
import { findWarnings, isHidden } from '../../src/endpoints/hidden-sockets.js';
import type { BoundSocket } from '@podwire/netlink';
import { describe, expect, test } from 'vitest';
import { createReadyHarness } from '../fakes/harness.js';

const socket = (address: string, change: Partial<BoundSocket> = {}): BoundSocket => ({
  ...{ protocol: 'tcp', family: address.includes(':') ? 6 : 4, address, port: 8080 },
  ...{ v6Only: false, uid: 0, inode: 1 },
  ...change,
});
const claim = (family: 4 | 6, address?: string) =>
  ({ protocol: 'tcp', port: 8080, family, ...(address === undefined ? {} : { address }) }) as const;

describe('a host port hides a socket', () => {
  test.each([
    ['every address and every address', claim(4), socket('0.0.0.0'), true],
    ['every address and one', claim(4), socket('127.0.0.1'), true],
    ['one address and every', claim(4, '10.0.0.1'), socket('0.0.0.0'), true],
    ['one address and the same', claim(4, '10.0.0.1'), socket('10.0.0.1'), true],
    ['two addresses', claim(4, '10.0.0.1'), socket('127.0.0.1'), false],
    ['IPv4, and a socket of both families', claim(4, '10.0.0.1'), socket('::'), true],
    ['IPv4, and a socket of IPv6 alone', claim(4), socket('::', { v6Only: true }), false],
    ['IPv4, and an IPv6 address', claim(4), socket('::1'), false],
    ['IPv4, and its address in an IPv6 socket', claim(4, '10.0.0.1'), socket('::ffff:10.0.0.1'), true],
    ['IPv4, and another in an IPv6 socket', claim(4, '10.0.0.1'), socket('::ffff:10.0.0.2'), false],
    ['IPv6 and every IPv4 address', claim(6), socket('0.0.0.0'), false],
    ['IPv6 and a socket of IPv6 alone', claim(6), socket('::', { v6Only: true }), true],
    ['another port', claim(4), socket('0.0.0.0', { port: 8081 }), false],
    ['another protocol', claim(4), socket('0.0.0.0', { protocol: 'udp' }), false],
  ])('%s', (_, claimed, bound, expected) => {
    expect(isHidden(claimed, bound)).toBe(expected);
  });
});

const published = (hostPort: number) => ({
  config: { runtimeConfig: { portMappings: [{ hostPort, containerPort: 80, protocol: 'tcp' }] } },
});

describe('the agent', () => {
  const warning =
    'host port 8080/tcp hides a process of this node that listens on 0.0.0.0:8080 and [::]:8080; ' +
    '`ss -lnpt sport = :8080` names it';

  test('serves the pod, says it once in its log, and shows it as long as it is so', async () => {
    let sockets = [socket('0.0.0.0'), socket('0.0.0.0', { inode: 2 }), socket('::', { v6Only: true })];
    const { context, logged, ...harness } = await createReadyHarness({
      dependencies: { readSockets: (protocol) => sockets.filter((each) => each.protocol === protocol) },
    });
    expect((await harness.call('ADD', published(8080))).ok).toBe(true);
    expect(logged.filter(({ msg }) => String(msg).endsWith(warning))).toHaveLength(1);
    const [record] = context.endpoints.all();
    const show = () => findWarnings(context, [record!])('podwire,c1,eth0');
    expect(show()).toEqual([warning]);
    expect(viewEndpoint(record!, show()).warnings).toEqual([warning]);
    sockets = [];
    expect(show()).toEqual([]);
  });

  test('does not look where no pod has a host port', async () => {
    let asked = 0;
    const { context, ...harness } = await createReadyHarness({
      dependencies: { readSockets: () => (asked++, []) },
    });
    await harness.call('ADD');
    findWarnings(context, context.endpoints.all());
    expect(asked).toBe(0);
  });

  test('serves the pod when the kernel does not tell', async () => {
    const { logged, ...harness } = await createReadyHarness({
      dependencies: {
        readSockets: () => {
          throw new Error('EPERM');
        },
      },
    });
    expect((await harness.call('ADD', published(8080))).ok).toBe(true);
    expect(logged.map(({ msg }) => msg)).toContain('the sockets of the node cannot be read');
  });
});
