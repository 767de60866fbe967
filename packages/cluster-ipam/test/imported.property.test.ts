/** Whatever an import has brought, and in whatever order its nodes come: no pod gets an address that is in use. */
import { type Block, blockKind, type AllocationRecord, allocationRecordKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import fc from 'fast-check';
import { it } from 'vitest';
import { keys, TestCluster } from './support/cluster.js';

const nodes = ['n1', 'n2', 'n3'] as const;
const name = fc.constantFrom(...nodes);

/** A block of sixteen addresses: whose, and who has which of it. */
const content = fc.record({
  owner: fc.option(name, { nil: undefined }),
  uses: fc.dictionary(fc.nat(15).map(String), name, { maxKeys: 6 }),
});
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;

async function write({ admin }: TestCluster, at: number, { owner, uses }: Content): Promise<string[]> {
  const cidr = `10.0.0.${at * 16}/28`;
  const used = Object.entries(uses).map(([ordinal, node]) => ({
    address: `10.0.0.${at * 16 + Number(ordinal)}`,
    node,
  }));
  if (owner === undefined && used.length === 0) return [];
  for (const node of nodes) {
    const entries = used
      .filter((each) => each.node === node)
      .map(({ address }) => ({ address, owner: 'handle', since: 1 }));
    const record: AllocationRecord = { cidr, node, entries, reportedAt: 1, imported: true };
    if (entries.length > 0)
      await admin.put(keys.allocationRecord(cidr, node), encodeObject(allocationRecordKind, record));
  }
  const loans = used.filter(({ node }) => node !== owner);
  const block: Block = {
    cidr,
    ...(owner === undefined ? {} : { node: owner }),
    state: 'confirmed',
    claimedAt: 1,
    loans,
  };
  await admin.put(keys.block(cidr), encodeObject(blockKind, block));
  return used.map(({ address }) => address);
}

async function run(blocks: readonly Content[], order: readonly string[], pods: number): Promise<void> {
  const cluster = new TestCluster();
  try {
    const inUse: string[] = [];
    for (const [at, each] of blocks.entries()) inUse.push(...(await write(cluster, at, each)));
    await cluster.putPool();
    const seen = new Set(inUse);
    for (const node of order) {
      const joined = await cluster.join(node);
      for (let pod = 0; pod < pods; pod++) {
        const addresses = await cluster.during(joined.add(`${node}-${pod}`));
        for (const address of addresses) {
          if (seen.has(address)) throw new Error(`${node} gives out ${address} a second time`);
          seen.add(address);
        }
      }
      await cluster.clock.advance(5_000);
    }
  } finally {
    await cluster.close();
  }
}

it('gives no address to two, however an import and its nodes come together', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 1, maxLength: 5 }),
      fc.shuffledSubarray([...nodes], { minLength: 1 }),
      fc.integer({ min: 1, max: 30 }),
      run,
    ),
    { numRuns: 60 },
  );
});
