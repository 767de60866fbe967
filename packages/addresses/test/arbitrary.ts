import fc from 'fast-check';
import type { Address, Prefix } from '@podwire/addresses';
import { prefixOf } from '@podwire/addresses';

export const ipv4: fc.Arbitrary<Address> = fc
  .bigInt({ min: 0n, max: 0xffff_ffffn })
  .map((value) => ({ family: 4, value }));

/** Half of the groups are zero, so that runs of every length and place appear. */
export const ipv6: fc.Arbitrary<Address> = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
  .map((groups) => ({ family: 6, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) }));

export const address: fc.Arbitrary<Address> = fc.oneof(ipv4, ipv6);

export const prefix: fc.Arbitrary<Prefix> = address.chain((base) =>
  fc.integer({ min: 0, max: base.family === 4 ? 32 : 128 }).map((length) => prefixOf(base, length)),
);
