import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { TokenBucket } from '@podwire/backend-linux/resources';
import type { Bandwidth } from '@podwire/network-contract';
import { ifbName, planBandwidth } from '@podwire/network-traffic';
import { endpoint } from './fixtures.js';

const megabit = 1_000_000;
const plan = (bandwidth: Bandwidth, mtu = 1450) => planBandwidth(endpoint({ bandwidth }), 'cali1', mtu);
const bucket = (bandwidth: Bandwidth, mtu?: number): TokenBucket =>
  plan(bandwidth, mtu).find((resource) => resource.kind === 'token-bucket')!;

test('what the pod receives is shaped on the host side', () => {
  expect(plan({ ingressRate: 10 * megabit })).toEqual([
    { kind: 'token-bucket', in: 'host', link: 'cali1', rate: 10_000_000, burst: 12_500, limit: 43_750 },
  ]);
});

test('what the pod sends is shaped on an ifb', () => {
  const ifb = ifbName(endpoint().id);
  expect(plan({ egressRate: 100 * megabit })).toEqual([
    { kind: 'ifb', name: ifb, mtu: 1450 },
    { kind: 'token-bucket', in: 'host', link: ifb, rate: 100_000_000, burst: 125_000, limit: 437_500 },
    { kind: 'ingress-redirect', in: 'host', link: 'cali1', target: ifb },
  ]);
});

test.each([[{}], [{ ingressRate: 0, egressRate: 0 }], [{ ingressRate: 0, ingressBurst: 2_147_483_647 }]])(
  'without a rate nothing is shaped: %j',
  (bandwidth) => {
    expect(plan(bandwidth)).toEqual([]);
  },
);

test.each([undefined, 0, 2_147_483_647, 4_294_967_295, 4_294_967_296])(
  'a burst of %j counts as unset',
  (ingressBurst) => {
    const burst = ingressBurst === undefined ? {} : { ingressBurst };
    expect(bucket({ ingressRate: 10 * megabit, ...burst }).burst).toBe(12_500);
  },
);

test('a burst that was asked for is kept, in bytes', () => {
  expect(bucket({ ingressRate: 10 * megabit, ingressBurst: 8 * 64_000 }).burst).toBe(64_000);
});

test('a burst that was asked for ends where tc can count no further', () => {
  const twoGigabit = 2_000_000_000;
  expect(bucket({ ingressRate: 100 * megabit, ingressBurst: twoGigabit }).burst).toBe(250_000_000);
  expect(bucket({ ingressRate: megabit, ingressBurst: twoGigabit }).burst).toBe(274 * 125_000);
  const [, shaped] = plan({ egressRate: 1001, egressBurst: twoGigabit });
  expect(shaped).toMatchObject({ kind: 'token-bucket', burst: 274 * 125 });
});

test('a bucket always holds a frame, or nothing would ever pass', () => {
  expect(bucket({ ingressRate: 1000, ingressBurst: 8 }, 9000)).toMatchObject({ burst: 9018 });
  expect(bucket({ ingressRate: 1000 }, 9000)).toMatchObject({ burst: 18_036, limit: 18_036 + 90_180 });
});

test.each([
  [{ ingressRate: 999 }, 'bandwidth.ingressRate is 999'],
  [{ egressRate: 1e15 + 1 }, 'bandwidth.egressRate is 1000000000000001'],
  [{ egressRate: 1000.5 }, 'bandwidth.egressRate is 1000.5'],
  [{ egressRate: -1 }, 'bandwidth.egressRate is -1'],
  [{ ingressRate: NaN }, 'bandwidth.ingressRate is NaN'],
  [{ ingressRate: 1000, ingressBurst: -1 }, 'bandwidth.ingressBurst is -1'],
  [{ egressRate: 1000, egressBurst: 0.5 }, 'bandwidth.egressBurst is 0.5'],
  [{ egressBurst: 1000 }, 'bandwidth.egressBurst is 1000: needs an egressRate'],
])('%j is refused by its field', (bandwidth, message) => {
  expect(() => plan(bandwidth)).toThrow(message);
  expect(() => plan(bandwidth)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
});

test('every accepted rate gives numbers that tc can carry', () => {
  const numbers = fc.record({
    rate: fc.integer({ min: 1_000, max: 1e15 }),
    burst: fc.integer({ min: 0, max: 2 ** 40 }),
    mtu: fc.integer({ min: 68, max: 65_535 }),
  });
  fc.assert(
    fc.property(numbers, ({ rate, burst, mtu }) => {
      const made = bucket({ ingressRate: rate, ingressBurst: burst }, mtu);
      expect(Number.isInteger(made.burst) && Number.isInteger(made.limit)).toBe(true);
      expect(made.burst).toBeGreaterThan(mtu);
      expect(made.limit).toBeGreaterThan(made.burst);
      expect(made.limit).toBeLessThan(2 ** 32);
    }),
  );
});
