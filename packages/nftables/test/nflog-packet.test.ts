import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPacket } from '../src/nflog/packet.js';

const ports = Buffer.from('1f900050', 'hex');

function ipv4(protocol: number, rest: Buffer, fragment = 0, words = 5): Buffer {
  const header = Buffer.alloc(4 * words);
  header[0] = 0x40 | words;
  header.writeUInt16BE(header.length + rest.length, 2);
  header.writeUInt16BE(fragment, 6);
  header[9] = protocol;
  header.set([10, 0, 0, 1, 10, 0, 0, 2], 12);
  return Buffer.concat([header, rest]);
}

function ipv6(protocol: number, rest: Buffer): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(rest.length, 4);
  header[6] = protocol;
  header[23] = 1;
  header[39] = 2;
  return Buffer.concat([header, rest]);
}

const read = (bytes: Buffer): object => readPacket(bytes, undefined) ?? {};

describe('the header of a packet', () => {
  test.each([
    ['TCP', ipv4(6, ports), { protocol: 'tcp', sourcePort: 8080, destinationPort: 80, length: 24 }],
    ['options', ipv4(17, ports, 0, 7), { protocol: 'udp', sourcePort: 8080, destinationPort: 80 }],
    ['ICMP', ipv4(1, Buffer.from([8, 0, 0, 0])), { protocol: 'icmp', icmpType: 8, icmpCode: 0 }],
    ['a protocol without a name', ipv4(89, ports), { protocol: 89 }],
    [
      'IPv6',
      ipv6(132, ports),
      { family: 6, source: '::1', destination: '::2', sourcePort: 8080, length: 44 },
    ],
    ['neighbour discovery', ipv6(58, Buffer.from([135, 0])), { protocol: 'ipv6-icmp', icmpType: 135 }],
    [
      'hop-by-hop options and a first fragment',
      ipv6(
        0,
        Buffer.concat([Buffer.from([44, 0, 0, 0, 0, 0, 0, 0]), Buffer.from([6, 0, 0, 1, 0, 0, 0, 0]), ports]),
      ),
      { protocol: 'tcp', destinationPort: 80 },
    ],
  ])('of %s is read', (_, bytes, expected) => {
    expect(read(bytes)).toMatchObject(expected);
  });

  test.each([
    ['of a later fragment', ipv4(6, ports, 100)],
    ['of a later fragment of IPv6', ipv6(44, Buffer.concat([Buffer.from([6, 0, 0, 8, 0, 0, 0, 0]), ports]))],
    ['that is cut off', ipv4(6, ports.subarray(0, 3))],
    ['behind an extension that is cut off', ipv6(0, Buffer.from([6, 200, 0, 0, 0, 0, 0, 0]))],
  ])('has no ports %s', (_, bytes) => {
    expect(readPacket(bytes, undefined)).toMatchObject({ protocol: 'tcp' });
    expect(read(bytes)).not.toHaveProperty('sourcePort');
  });

  test('is none where the version is not that of the link layer', () => {
    expect(readPacket(ipv4(6, ports), 0x86dd)).toBeUndefined();
    expect(readPacket(Buffer.alloc(64), 0x0806)).toBeUndefined();
  });

  test('is read or not, whatever the bytes are', () => {
    const start = fc.constantFrom(0x45, 0x4f, 0x40, 0x60, 0x6f);
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (first, rest) => {
        const found = readPacket(Buffer.from([first, ...rest]), undefined);
        expect(found === undefined || found.length <= 0xffff + 40).toBe(true);
      }),
    );
  });
});
