/** The map of a network, however its range and the pools of its groups lie. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClusterView, Network } from '../src/index.js';
import { encodeNetworkMap, encodePoolMap } from '../src/render/address-map.js';
import { Bench } from './support.js';

const size = 256;

/** Ranges that do not touch, in order. */
const ranges = fc
  .uniqueArray(fc.integer({ min: 2, max: size - 3 }), { maxLength: 12 })
  .map((hosts) => hosts.toSorted((a, b) => a - b))
  .map((hosts) =>
    Array.from({ length: hosts.length >> 1 }, (_, at) => [hosts[2 * at]!, hosts[2 * at + 1]!] as const),
  );

const isWithin = (host: number, [first, last]: readonly [number, number]): boolean =>
  host >= first && host <= last;

/** Hosts whose bit is set. */
function readMap(map: string): number[] {
  const bytes = Buffer.from(map, 'base64url');
  expect(bytes.readBigUInt64BE(0)).toBe(BigInt(size));
  const isSet = (host: number): boolean =>
    ((bytes.readBigUInt64BE(8 + (host >> 6) * 8) >> BigInt(host & 63)) & 1n) === 1n;
  return hosts.filter(isSet);
}

const hosts = Array.from({ length: size }, (_, host) => host);

function createCluster(pools: readonly (readonly [number, number])[], taken: readonly number[]): Bench {
  const bench = new Bench();
  bench.network({ subnet: '10.1.1.1-10.1.1.253/24', gateway: '10.1.1.254' });
  const text = (host: number): string => `10.1.1.${host}`;
  for (const [at, [first, last]] of pools.entries())
    bench.group({ groupName: `g${at}`, ipPool: `${text(first)}-${text(last)}` });
  for (const host of taken) {
    const pool = pools.findIndex((range) => isWithin(host, range));
    bench.endpoint(`c${host}`, { address: text(host), group: pool < 0 ? '' : `g${pool}` });
  }
  return bench;
}

const networkOf = (cluster: ClusterView): Network => cluster.table('network').get('default:web')!.config;

test('has set what is taken, what is outside of the range, and pools of groups', () => {
  const host = fc.integer({ min: 1, max: size - 3 });
  fc.assert(
    fc.property(ranges, fc.uniqueArray(host, { maxLength: 8 }), (pools, taken) => {
      const { cluster } = createCluster(pools, taken);
      const closed = new Set([0, 254, 255, ...taken]);
      const inPool = (each: number): boolean => pools.some((range) => isWithin(each, range));
      expect(readMap(encodeNetworkMap(cluster, networkOf(cluster)))).toEqual(
        hosts.filter((each) => closed.has(each) || inPool(each)),
      );
      for (const range of pools) {
        const map = encodePoolMap(cluster, networkOf(cluster), { first: range[0], last: range[1] });
        expect(readMap(map)).toEqual(hosts.filter((each) => closed.has(each) || !isWithin(each, range)));
      }
    }),
    { numRuns: 100 },
  );
});
