/** Random lives of a node: whatever fails and whenever the process or the machine ends, nothing leaks and nothing is forgotten. */
import fs from 'node:fs';
import path from 'node:path';
import type { FakePlugin } from '@podwire/cni/fake';
import type { RunningPodNetwork } from '@podwire/pod-network';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conflist, createHarness, type Harness, makePod, result } from './support/harness.js';

const ids = ['a', 'b', 'c'] as const;
type Id = (typeof ids)[number];

type Step =
  | { readonly do: 'set up' | 'tear down'; readonly id: Id }
  | { readonly do: 'collect garbage'; readonly live: readonly Id[] }
  | { readonly do: 'break'; readonly what: string; readonly times: number }
  | { readonly do: 'restart' }
  | { readonly do: 'reboot' }
  | { readonly do: 'lose configuration' }
  | { readonly do: 'end during ADD'; readonly id: Id };

const id = fc.constantFrom(...ids);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('set up', 'tear down'), id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('collect garbage'), live: fc.subarray([...ids]) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('break'),
      what: fc.constantFrom('ADD ipam', 'ADD second', 'DEL ipam', 'DEL second'),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'reboot' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose configuration' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end during ADD'), id }) },
);

/** Plugins that keep leases as host-local does: for ever, unless DEL comes. */
function createNode() {
  const leases = new Set<string>();
  const broken = new Map<string, number>();
  const fails = (call: string): boolean => {
    const times = broken.get(call) ?? 0;
    broken.set(call, times - 1);
    return times > 0;
  };
  const leasing =
    (name: string): FakePlugin =>
    ({ command, env }) => {
      if (fails(`${command} ${name}`)) return { code: 1, stderr: 'broken' };
      const lease = `${name} ${env['CNI_CONTAINERID']}`;
      if (command === 'ADD') {
        // The rule that a runtime must keep: no second ADD without a DEL.
        if (leases.has(lease)) throw new Error(`${lease} is taken`);
        leases.add(lease);
        return { result: result() };
      }
      leases.delete(lease);
      return undefined;
    };
  const harness = createHarness({ plugins: { ipam: leasing('ipam'), second: leasing('second') } });
  return { harness, leases, broken };
}

const write = (harness: Harness): void => harness.write('1.conflist', conflist('pods', ['ipam', 'second']));

test('random lives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const { harness, leases, broken } = createNode();
      let boot = 1;
      try {
        write(harness);
        let network: RunningPodNetwork = await harness.start();
        const restart = async (): Promise<void> => {
          await network.close();
          network = await harness.start();
        };
        for (const each of steps) {
          switch (each.do) {
            case 'set up':
              // Attached already: it comes off first.
              await network.setUp(makePod(harness, each.id)).catch(() => undefined);
              break;
            case 'tear down':
              await network
                .tearDown({ namespace: 'shop', name: each.id, sandboxId: each.id })
                .catch(() => undefined);
              break;
            case 'collect garbage':
              await network.collectGarbage(each.live).catch(() => undefined);
              break;
            case 'break':
              broken.set(each.what, each.times);
              break;
            case 'restart':
              await restart();
              break;
            case 'reboot':
              boot += 1;
              fs.writeFileSync(path.join(harness.root, 'boot_id'), `boot-${boot}\n`);
              harness.namespaces.clear();
              await restart();
              break;
            case 'lose configuration':
              fs.rmSync(path.join(harness.config, '1.conflist'), { force: true });
              await network.explain();
              write(harness);
              break;
            case 'end during ADD':
              await network.setUp(makePod(harness, each.id)).catch(() => undefined);
              fs.rmSync(path.join(harness.state, `cache/results/pods-${each.id}-eth0`), { force: true });
              await restart();
              break;
          }
          // Every attachment that may exist is recorded.
          const owners = new Set([...leases].map((lease) => lease.split(' ')[1]));
          const records = harness.records();
          for (const owner of owners) expect(records).toContain(owner);
          for (const each of ids) {
            const addresses = await network.addresses(each);
            if (addresses !== undefined) expect(records).toContain(each);
          }
        }
        broken.clear();
        await network.collectGarbage([]);
        expect([...leases]).toEqual([]);
        expect([harness.records(), harness.cached()]).toEqual([[], []]);
        expect(
          harness.log.map(({ error }) => error).filter((error) => String(error).includes('is taken')),
        ).toEqual([]);
      } finally {
        await harness.close();
      }
    }),
    { numRuns: 150 },
  );
});
