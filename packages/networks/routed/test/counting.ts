import assert from 'node:assert/strict';
import { type TestNamespace, until } from '@podwire/testkit';

/** Counts of datagrams, in the order of the sources. */
export interface Arrivals {
  counts(): Promise<number[]>;
  /** Waits until they are these: on a busy machine a datagram takes its time. */
  become(expected: readonly number[]): Promise<void>;
}

/** Counts datagrams for the discard port (9) that arrive in a namespace from each source. */
export async function countFrom(namespace: TestNamespace, ...sources: string[]): Promise<Arrivals> {
  const rules = sources.map(
    (source) => `${source.includes(':') ? 'ip6' : 'ip'} saddr ${source} udp dport 9 counter`,
  );
  const chain = `chain seen { type filter hook prerouting priority raw; ${rules.join('; ')}; }`;
  await namespace.run(['nft', '-f', '-'], {
    input: `table inet test\ndelete table inet test\ntable inet test {\n${chain}\n}\n`,
  });
  const counts = async (): Promise<number[]> => {
    const listing = await namespace.run(['nft', 'list', 'chain', 'inet', 'test', 'seen']);
    return [...listing.matchAll(/counter packets (\d+)/g)].map((match) => Number(match[1]));
  };
  return {
    counts,
    become: (expected) => eventually(async () => assert.deepEqual(await counts(), expected)),
  };
}

/** Waits until it can be asserted. */
export async function eventually(assertion: () => Promise<void>): Promise<void> {
  const look = async (): Promise<boolean> => {
    await assertion();
    return true;
  };
  await until('as it should be', look, { timeout: 5_000 });
}
