/**
 * The promises of the Container Runtime Interface as tests: gRPC clients, runtimes of our own, and other people's behind a
 * socket are all held to the same.
 */
import { containerCases } from './container-cases.js';
import { imageCases } from './image-cases.js';
import { observationCases } from './observation-cases.js';
import { programCases } from './program-cases.js';
import { runtimeCases } from './runtime-cases.js';
import { sandboxCases } from './sandbox-cases.js';
import { stopCases } from './stop-cases.js';
import { type CaseContext, type ComplianceTarget, completeTarget, type Feature } from './target.js';

export type { ComplianceCase, ComplianceTarget, Feature, Programs } from './target.js';

export const complianceCases = [
  ...runtimeCases,
  ...sandboxCases,
  ...containerCases,
  ...stopCases,
  ...programCases,
  ...imageCases,
  ...observationCases,
];

export interface ComplianceOptions {
  readonly name: string;
  readonly open: () => Promise<ComplianceTarget>;
  /** Cases that need one of these are left out. */
  readonly lacks?: readonly Feature[];
}

/** The functions of a test runner: node:test as it is; of vitest `{ describe, test, before: beforeAll, after: afterAll }`. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly before: (body: () => Promise<void>) => unknown;
  readonly after: (body: () => Promise<void>) => unknown;
}

/** Declares the cases. The runtime is opened once for all of them. */
export function testCompliance(runner: TestRunner, { name, open, lacks = [] }: ComplianceOptions): void {
  const missing = new Set(lacks);
  void runner.describe(`${name} as a container runtime`, () => {
    let target: ComplianceTarget | undefined;
    let context: CaseContext;
    void runner.before(async () => {
      target = await open();
      context = completeTarget(target, lacks);
    });
    void runner.after(async () => {
      await target?.close();
    });
    for (const { title, needs, run } of complianceCases)
      if (!needs.some((feature) => missing.has(feature))) void runner.test(title, () => run(context));
  });
}
