import { Attributes } from '@podwire/netlink';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConntrackFilter,
  deleteMatchingRequest,
  describeFilter,
  kernelCanMatch,
  listMatchingRequest,
} from '../src/conntrack-codec.js';

const CTA_TUPLE_ORIG = 1;
const CTA_TUPLE_REPLY = 2;
const CTA_FILTER = 25;
const IP_PARTS = 0b11;
const PORT_PARTS = 0b110000;

const filter: fc.Arbitrary<ConntrackFilter> = fc
  .record({
    family: fc.constantFrom(4 as const, 6 as const),
    protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'sctp' as const, undefined),
    match: fc.constantFrom('original-destination' as const, 'reply-source' as const, undefined),
    port: fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
    addressed: fc.boolean(),
  })
  .filter(
    ({ protocol, port, addressed }) =>
      (protocol !== undefined || addressed) && (port === undefined || protocol !== undefined),
  )
  .map(({ addressed, ...rest }) => ({
    ...rest,
    address: addressed ? (rest.family === 4 ? '192.0.2.1' : '2001:db8::1') : undefined,
  }));

function partsOf(payload: Uint8Array): { all: number; attributes: Attributes } {
  const attributes = new Attributes(Buffer.from(payload), 4);
  const parts = attributes.nested(CTA_FILTER);
  return { all: (parts?.u32(1) ?? 0) | (parts?.u32(2) ?? 0), attributes };
}

describe('a filter for the kernel', () => {
  it('never asks for what the kernel compares wrongly', () => {
    fc.assert(
      fc.property(filter, (one) => {
        const { all } = partsOf(listMatchingRequest(one).payload);
        if (one.family === 6) expect(all & IP_PARTS).toBe(0);
        if (one.protocol !== 'tcp' && one.protocol !== 'udp') expect(all & PORT_PARTS).toBe(0);
      }),
    );
  });

  it('deletes by nothing less than the whole filter, and always with a tuple', () => {
    fc.assert(
      fc.property(filter, (one) => {
        if (!kernelCanMatch(one)) {
          expect(() => deleteMatchingRequest(one)).toThrow(RangeError);
          return;
        }
        const { all, attributes } = partsOf(deleteMatchingRequest(one).payload);
        expect(attributes.has(one.match === 'reply-source' ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG)).toBe(true);
        expect((all & IP_PARTS) !== 0).toBe(one.address !== undefined);
        expect((all & PORT_PARTS) !== 0).toBe(one.port !== undefined);
        expect(all).not.toBe(0);
      }),
    );
  });

  it('is described in words', () => {
    expect(describeFilter({ family: 4, protocol: 'udp', address: '192.0.2.1', port: 53 })).toBe(
      'conntrack entries with original destination 192.0.2.1, udp port 53',
    );
    expect(describeFilter({ family: 6, match: 'reply-source', protocol: 'tcp' })).toBe(
      'conntrack entries with reply source any IPv6, tcp',
    );
  });
});
