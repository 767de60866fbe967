/** Promises of every source of objects, as tests: each source is held to the same. */
import { randomBytes } from 'node:crypto';
import type { SourceCase, SourceTarget } from './target.js';
import { watchCases } from './watch-cases.js';
import { writeCases } from './write-cases.js';

export type { SourceCase, SourceTarget } from './target.js';

const sourceCases: readonly SourceCase[] = [...writeCases, ...watchCases];

/** The functions of a test runner: node:test as it is; of vitest `{ describe, test, before: beforeAll, after: afterAll }`. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly before: (body: () => Promise<void>) => unknown;
  readonly after: (body: () => Promise<void>) => unknown;
}

/** Declares the cases. The target is opened once for all of them; each works with names of its own. */
export function describeSource(name: string, open: () => Promise<SourceTarget>, runner: TestRunner): void {
  void runner.describe(`${name} as a source of objects`, () => {
    let target: SourceTarget | undefined;
    void runner.before(async () => {
      target = await open();
    });
    void runner.after(async () => {
      await target?.close();
    });
    for (const { title, run } of sourceCases)
      void runner.test(title, async () => {
        if (target === undefined) throw new Error('the target did not open');
        await run(target, `c${randomBytes(4).toString('hex')}`);
      });
  });
}
