/** `kill -9` of an agent at every step of an ADD and a DEL. After the restart all of a pod is there, or nothing of it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type Snapshot, type TestNamespace, untilSameSnapshot } from '@podwire/testkit';
import { type FaultInjector, type Occurrence, openFaultInjector } from '@podwire/testkit/fault-injection';
import type { Machine } from './cluster-fixture.js';
import { askApi, type ClientAnswer } from './plugin-client.js';

/** Nothing happens by itself, and a call ends by an answer however busy the machine is. */
export const quietAgent = { reconcileInterval: '1h', watchDrift: false, deadlines: { request: '2m' } };

/** The call's own. Policy follows at its own pace, and has such a test already. */
const steps = /^(add|apply|teardown|remove|remove-links):/;

export interface DyingCallsOptions {
  readonly machine: Machine;
  /** A namespace that pods are attached to and detached from. */
  readonly subject: TestNamespace;
  /** With the same addresses each time. */
  readonly ask: (command: string) => Promise<ClientAnswer | undefined>;
  readonly take: () => Promise<Snapshot>;
  /** A pod beside it has its network. */
  readonly checkOthers: () => Promise<void>;
}

export class DyingCalls {
  readonly #options: DyingCallsOptions;
  readonly #injector: FaultInjector;
  readonly #orders: string;
  #without: Snapshot = {};
  #having: Snapshot = {};

  /** Starts the agent anew. */
  static async begin(options: DyingCallsOptions): Promise<DyingCalls> {
    const calls = new DyingCalls(options);
    await options.machine.agent.stop();
    await calls.#startAgent();
    calls.#without = await calls.#takeWhole();
    await calls.add();
    calls.#having = await calls.#takeWhole();
    await calls.del();
    await calls.#untilSame(calls.#without);
    return calls;
  }

  private constructor(options: DyingCallsOptions) {
    this.#options = options;
    this.#orders = path.join(options.machine.host.directory, 'orders');
    this.#injector = openFaultInjector(this.#orders);
    this.#injector.clear();
  }

  add(): Promise<void> {
    return this.#succeed('ADD');
  }

  del(): Promise<void> {
    return this.#succeed('DEL');
  }

  /** The steps that one call passes, each as often as it does. */
  async record(call: () => Promise<void>): Promise<readonly Occurrence[]> {
    this.#injector.clear();
    await call();
    return this.#injector.occurrences().filter(({ point }) => steps.test(point));
  }

  async dieAtEach(
    occurrences: readonly Occurrence[],
    command: string,
    context: TestContext,
    prepare?: () => Promise<void>,
  ): Promise<void> {
    let deaths = 0;
    for (const occurrence of occurrences) {
      await prepare?.();
      if (await this.#dieAt(occurrence, command)) deaths += 1;
      await this.#assertWhole(occurrence);
    }
    assert.ok(deaths >= 10, `it died ${deaths} times`);
    context.diagnostic(`died ${deaths} times at ${occurrences.length} steps`);
  }

  /** With `npm run test:long` every resource travels alone, which are many more steps. */
  #startAgent(): Promise<void> {
    const env = process.env['PODWIRE_TEST_LONG'] === '1' ? { FAULT_SINGLE: '1' } : {};
    return this.#options.machine.agent.start({ ...env, PODWIRE_FAULTS: this.#orders });
  }

  async #succeed(command: string): Promise<void> {
    const answer = await this.#options.ask(command);
    assert.ok(answer?.ok, `${command}: ${JSON.stringify(answer?.json)}`);
  }

  /** Policy is in force by then. */
  async #takeWhole(): Promise<Snapshot> {
    await askApi(this.#options.machine.agent.apiSocket, '/v1/reconcile', {});
    return this.#options.take();
  }

  /** Links are deleted a little later. */
  #untilSame(wanted: Snapshot): Promise<void> {
    return untilSameSnapshot(wanted, this.#options.take, { timeout: 30_000 });
  }

  /**
   * The agent dies there and starts again.
   * @returns false when it lives: a reconcile that came between has passed the step in the recording
   */
  async #dieAt(occurrence: Occurrence, command: string): Promise<boolean> {
    const { machine, ask } = this.#options;
    this.#injector.clear();
    this.#injector.inject({ ...occurrence, signal: 'SIGKILL' });
    // A second call waits for the end of the first, which may pass a step after its answer.
    for (const each of [command, 'CHECK']) {
      const answer = await ask(each).catch(() => undefined);
      if (answer !== undefined) continue;
      assert.equal((await machine.agent.exited()).signal, 'SIGKILL');
      this.#injector.clear();
      await this.#startAgent();
      return true;
    }
    this.#injector.clear();
    return false;
  }

  async #isThere(): Promise<boolean> {
    const { machine, subject } = this.#options;
    const { endpoints } = await askApi(machine.agent.apiSocket, '/v1/endpoints');
    return (endpoints as { containerId: string }[]).some(({ containerId }) => containerId === subject.name);
  }

  /** All of the pod or nothing, then nothing. */
  async #assertWhole({ point, skip }: Occurrence): Promise<void> {
    try {
      await this.#untilSame((await this.#isThere()) ? this.#having : this.#without);
      await this.del();
      await this.#untilSame(this.#without);
      await this.#options.checkOthers();
    } catch (cause) {
      throw new Error(`after a death at ${point} (${skip}): ${(cause as Error).message}`, { cause });
    }
  }
}

export const toKeys = (lines: readonly string[]): Record<string, true> =>
  Object.fromEntries(lines.map((line) => [line, true]));
