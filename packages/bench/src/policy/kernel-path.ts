/** The way of a change through the agent, without its queues: compiler, renderer, engine and the packet filter of the kernel. */
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine, type Resource } from '@podwire/engine';
import {
  createPolicyRenderer,
  type LinkChange,
  type PolicyRenderer,
  type RenderedDelta,
} from '@podwire/network-policy';
import { createCompiler, type InputChange, type PolicyCompiler } from '@podwire/policy';

/** The node that the compiler compiles for. */
export const node = 'here';

/** Milliseconds. */
export interface Taken {
  readonly compile: number;
  readonly render: number;
  readonly exchange: number;
  readonly wall: number;
  /** Time of the process in the kernel, in the kernel's coarse steps. */
  readonly kernel: number;
}

export class KernelPath {
  readonly #engine: Engine = createEngine({ backends: createLinuxBackends(openKernel()) });
  readonly #compiler: PolicyCompiler = createCompiler({ node });
  readonly #renderer: PolicyRenderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 1 });
  readonly #call = { signal: new AbortController().signal };

  /** All that is in the table. */
  get resources(): readonly Resource[] {
    return this.#renderer.resources;
  }

  async #exchange({ add, remove }: RenderedDelta): Promise<void> {
    await this.#engine.change({ owner: 'policy' }, { replace: add, remove }, this.#call);
  }

  async start(): Promise<void> {
    await this.#exchange(this.#renderer.start());
  }

  async take(inputs: readonly InputChange[], links: readonly LinkChange[] = []): Promise<Taken> {
    const before = process.resourceUsage().systemCPUTime;
    const begin = performance.now();
    const delta = this.#compiler.apply(inputs);
    const compiled = performance.now();
    const rendered = this.#renderer.apply(delta, links);
    const done = performance.now();
    await this.#exchange(rendered);
    const end = performance.now();
    return {
      ...{ compile: compiled - begin, render: done - compiled, exchange: end - done, wall: end - begin },
      kernel: (process.resourceUsage().systemCPUTime - before) / 1_000,
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
