/** The sandbox calls as callers see them: the same call twice is one piece of work, and different calls for a pod are serial. */
import { deadlineSignal, orAborted, Singleflight } from '@podwire/platform';
import { CriError, type PodSandboxConfig } from '@podwire/cri';
import { type SpanContext, withSpan } from '@podwire/tracing';
import { describeError } from '@podwire/errors';
import type { SandboxContext } from '../context.js';
import { toCriError } from '../errors.js';
import { makeSandboxName, podKey } from '../names.js';
import { runSandbox } from './run.js';
import { identifySandbox, removeSandbox, resolveSandboxId, stopSandbox } from './stop.js';

export interface SandboxCall {
  readonly signal?: AbortSignal | undefined;
  readonly parent?: SpanContext | undefined;
}

interface Running {
  work: Promise<string>;
  readonly giveUp: AbortController;
  id?: string;
}

export class Sandboxes {
  readonly #context: SandboxContext;
  readonly #running = new Map<string, Running>();
  readonly #ending = new Singleflight<void>();

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  run(
    config: PodSandboxConfig,
    runtime: string | undefined,
    { signal, parent }: SandboxCall,
  ): Promise<string> {
    const name = makeSandboxName(config.metadata);
    const known = this.#running.get(name);
    if (known !== undefined) {
      this.#context.log.info({ name }, 'a second RunPodSandbox joins the first');
      return orAborted(known.work, signal);
    }
    const one = startRun(this.#context, name, config, runtime, parent);
    this.#running.set(name, one);
    one.work.finally(() => this.#running.delete(name)).catch(() => undefined);
    return orAborted(one.work, signal);
  }

  stop(id: string, call: SandboxCall): Promise<void> {
    return this.#end('Stop', id, call);
  }

  remove(id: string, call: SandboxCall): Promise<void> {
    return this.#end('Remove', id, call);
  }

  /** Gives up what is being started, and waits until it is undone. */
  async close(): Promise<void> {
    const all = [...this.#running.values()].map((one) => giveUp(one, 'the sandbox service ends'));
    await Promise.allSettled([...all, this.#ending.idle()]);
  }

  /**
   * Stop and Remove of one sandbox are one piece of work however often they are called at once. It goes on without the caller's
   * signal: half a Stop leaves more to clean up.
   */
  #end(kind: 'Stop' | 'Remove', id: string, { signal, parent }: SandboxCall): Promise<void> {
    const work = this.#ending.join(`${kind} ${id}`, undefined, () => {
      const attributes = { runtime: 'docker', sandbox: id };
      return withSpan(this.#context.tracer.start(`${kind}PodSandbox`, parent, attributes), () =>
        this.#endOnce(kind, id),
      );
    });
    return orAborted(work, signal);
  }

  async #endOnce(kind: 'Stop' | 'Remove', given: string): Promise<void> {
    const context = this.#context;
    const signal = AbortSignal.timeout(context.settings.runTimeoutMs);
    const id = await resolveSandboxId(context, given, signal);
    if (id === undefined) return;
    const run = [...this.#running.values()].find((one) => one.id === id);
    if (run !== undefined) await giveUp(run, 'the sandbox is stopped');
    const { name, namespace } = await identifySandbox(context, id, signal);
    const key = name === '' ? `id/${id}` : podKey(namespace, name);
    await context.locks.withKey(key, signal, () =>
      (kind === 'Stop' ? stopSandbox : removeSandbox)(context, id, signal),
    );
  }
}

async function giveUp({ giveUp: run, work }: Running, why: string): Promise<void> {
  run.abort(new CriError('ABORTED', why));
  await work.catch(() => undefined);
}

/**
 * The work has a deadline of its own and not the caller's: a caller that has given up asks again with the same metadata, and
 * then joins it, or finds it done.
 */
function startRun(
  context: SandboxContext,
  name: string,
  config: PodSandboxConfig,
  runtime: string | undefined,
  parent: SpanContext | undefined,
): Running {
  const giveUp = new AbortController();
  const signal = deadlineSignal(context.settings.runTimeoutMs, giveUp.signal);
  const { name: pod = '', namespace = '' } = config.metadata ?? {};
  const span = context.tracer.start('RunPodSandbox', parent, {
    runtime: 'docker',
    pod: `${namespace}/${pod}`,
  });
  const running: Running = { work: Promise.resolve(''), giveUp };
  running.work = withSpan(span, () =>
    context.locks
      .withKey(podKey(namespace, pod), signal, () =>
        runSandbox(
          context,
          { name, config, runtime, onCreated: (id) => (running.id = id) },
          { signal, span },
        ),
      )
      .catch((error: unknown) => {
        throw signal.aborted ? explainAbort(signal, error) : error;
      }),
  );
  return running;
}

/** A call that broke off in the middle says so in its own way; the caller must know why it was given up. */
function explainAbort({ reason }: AbortSignal, cause: unknown): CriError {
  const { code, message } = toCriError(reason);
  return new CriError(code, `${message}: ${describeError(cause)}`, { cause });
}
