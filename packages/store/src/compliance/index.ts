/** Promises of every store, as tests: each back end is held to the same. */
import { randomBytes } from 'node:crypto';
import type { Store } from '../contract.js';
import { faultCases } from './fault-cases.js';
import { leaseCases } from './lease-cases.js';
import { listCases } from './list-cases.js';
import { modelCases } from './model-cases.js';
import type { CaseContext, StoreCase, StoreFeature, StoreTarget } from './target.js';
import { transactionCases } from './transaction-cases.js';
import { watchCases } from './watch-cases.js';
import { writeCases } from './write-cases.js';

export type { CaseContext, StoreCase, StoreFeature, StoreTarget } from './target.js';

const storeCases: readonly StoreCase[] = [
  ...writeCases,
  ...transactionCases,
  ...listCases,
  ...watchCases,
  ...leaseCases,
  ...faultCases,
  ...modelCases,
];

/** The functions of a test runner: node:test as it is; of vitest `{ describe, test, before: beforeAll, after: afterAll }`. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly before: (body: () => Promise<void>) => unknown;
  readonly after: (body: () => Promise<void>) => unknown;
}

/**
 * Declares the cases. The target is opened once for all of them; each works in a folder of its own.
 * @param lacks what the target cannot show: cases about it are left out
 */
export function describeStore(
  name: string,
  open: () => Promise<StoreTarget>,
  runner: TestRunner,
  { lacks = [] }: { readonly lacks?: readonly StoreFeature[] } = {},
): void {
  const missing = new Set(lacks);
  void runner.describe(`${name} as a store`, () => {
    let target: StoreTarget | undefined;
    void runner.before(async () => {
      target = await open();
    });
    void runner.after(async () => {
      await target?.close();
    });
    for (const each of storeCases)
      if (each.needs?.some((feature) => missing.has(feature)) !== true)
        void runner.test(each.title, async () => {
          if (target === undefined) throw new Error('the target did not open');
          await runCase(target, each);
        });
  });
}

async function runCase(target: StoreTarget, { run }: StoreCase): Promise<void> {
  const opened: Store[] = [];
  const another = async (): Promise<Store> => {
    const store = await target.another();
    opened.push(store);
    return store;
  };
  const context: CaseContext = {
    store: target.store,
    another,
    ttl: target.ttl ?? 1000,
    pass: target.pass?.bind(target),
    compact: target.compact?.bind(target),
    interrupt: target.interrupt?.bind(target),
    connectDeaf: target.connectDeaf?.bind(target),
    folder: `/compliance/${randomBytes(6).toString('hex')}/`,
  };
  try {
    await run(context);
  } finally {
    await Promise.all(opened.map((each) => each.close()));
  }
}
