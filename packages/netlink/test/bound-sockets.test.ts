import {
  boundSocketsRequest,
  decodeBoundSocket,
  DecodeError,
  listBoundSockets,
  type NetlinkConnection,
  NetlinkError,
} from '@podwire/netlink';
import { describe, expect, test } from 'vitest';
import { hex } from './hex.js';

/** As Linux 6 sends them for `listen(7100)` on 0.0.0.0, and on ::1 with IPV6_V6ONLY. */
const listens4 = hex(`
  02 0a 00 00                              # family, state, timer, retransmits
  1bbc 0000                                # ports
  00000000 00000000 00000000 00000000      # source
  00000000 00000000 00000000 00000000      # destination
  00000000 5410000000000000                # link, cookie
  00000000 00000000 ff010000 00000000      # expires, queues, uid
  f20f7300                                 # inode
  0500080000000000 08000f0000000000 0c00150001000000 00000000 0600160052000000`);
const listens6 = hex(`
  0a 0a 00 00
  1bbe 0000
  00000000 00000000 00000000 00000001
  00000000 00000000 00000000 00000000
  03000000 5610000000000000
  00000000 00000000 ff010000 e8030000
  f60f7300
  0500080000000000 05000b0001000000 08000f0000000000`);

const messageOf = (payload: Uint8Array) => ({ type: 20, flags: 2, payload });

test('a request names protocol, family and the state of sockets without a peer', () => {
  const { type, payload, label } = boundSocketsRequest('tcp', 4);
  expect({ type, label }).toEqual({ type: 20, label: 'list tcp sockets of IPv4' });
  expect(payload).toEqual(hex(`02 06 00 00 00040000 ${'00'.repeat(48)}`));
  expect(boundSocketsRequest('udp', 6).payload).toEqual(hex(`0a 11 00 00 80000000 ${'00'.repeat(48)}`));
});

describe('an answer', () => {
  test('of an IPv4 socket', () => {
    expect(decodeBoundSocket(messageOf(listens4), 'tcp')).toEqual({
      ...{ protocol: 'tcp', family: 4, address: '0.0.0.0', port: 7100 },
      ...{ v6Only: false, uid: 0, inode: 0x730ff2 },
    });
  });

  test('of an IPv6 socket that takes no IPv4, on one link', () => {
    expect(decodeBoundSocket(messageOf(listens6), 'tcp')).toEqual({
      ...{ protocol: 'tcp', family: 6, address: '::1', port: 7102, link: 3 },
      ...{ v6Only: true, uid: 1000, inode: 0x730ff6 },
    });
  });

  test('that is cut short, or of another family, is refused', () => {
    expect(() => decodeBoundSocket(messageOf(listens4.subarray(0, 71)), 'tcp')).toThrow(DecodeError);
    const other = Buffer.from(listens4);
    other[0] = 1;
    expect(() => decodeBoundSocket(messageOf(other), 'tcp')).toThrow(DecodeError);
  });
});

test('a kernel without the part for a protocol has no sockets to show; other errors are passed on', () => {
  const failing = (code: string): NetlinkConnection =>
    ({
      dump: () => {
        throw new NetlinkError(code, 'list tcp sockets');
      },
    }) as unknown as NetlinkConnection;
  expect(listBoundSockets(failing('ENOENT'), 'tcp')).toEqual([]);
  expect(() => listBoundSockets(failing('EPERM'), 'tcp')).toThrow(NetlinkError);
});
