/** The sandbox calls as callers see them: the same call twice is one piece of work, and different calls for a pod are serial. */
import { deadlineSignal, orAborted } from '@podwire/platform';
import { CriError, type PodSandboxConfig } from '@podwire/cri';
import type { SpanContext } from '@podwire/tracing';
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

export interface Sandboxes {
  run(config: PodSandboxConfig, runtime: string | undefined, call: SandboxCall): Promise<string>;
  stop(id: string, call: SandboxCall): Promise<void>;
  remove(id: string, call: SandboxCall): Promise<void>;
  /** Gives up what is being started, and waits until it is undone. */
  close(): Promise<void>;
}

interface Running {
  readonly work: Promise<string>;
  readonly giveUp: AbortController;
  id?: string;
}

export function createSandboxes(context: SandboxContext): Sandboxes {
  const running = new Map<string, Running>();
  const ending = new Map<string, Promise<void>>();
  const giveUp = async (one: Running | undefined, why: string): Promise<void> => {
    one?.giveUp.abort(new CriError('ABORTED', why));
    await one?.work.catch(() => undefined);
  };

  /** Stop and Remove of one sandbox are one piece of work however often they are called at once. */
  const end = (kind: 'Stop' | 'Remove', id: string, { signal, parent }: SandboxCall): Promise<void> => {
    const key = `${kind} ${id}`;
    const before = ending.get(key);
    const work =
      before ??
      endOnce(context, kind, id, parent, (whole) =>
        giveUp(findById(running, whole), 'the sandbox is stopped'),
      );
    if (before === undefined) {
      ending.set(key, work);
      work.finally(() => ending.delete(key)).catch(() => undefined);
    }
    return orAborted(work, signal);
  };

  return {
    run(config, runtime, { signal, parent }) {
      const name = makeSandboxName(config.metadata);
      const known = running.get(name);
      if (known !== undefined) context.log.info({ name }, 'a second RunPodSandbox joins the first');
      const one = known ?? startRun(context, name, config, runtime, parent);
      if (known === undefined) {
        running.set(name, one);
        one.work.finally(() => running.delete(name)).catch(() => undefined);
      }
      return orAborted(one.work, signal);
    },
    stop: (id, call) => end('Stop', id, call),
    remove: (id, call) => end('Remove', id, call),
    async close() {
      const all = [...running.values()].map((one) => giveUp(one, 'the sandbox service ends'));
      await Promise.allSettled([...all, ...ending.values()]);
    },
  };
}

function findById(running: ReadonlyMap<string, Running>, id: string): Running | undefined {
  return [...running.values()].find((one) => one.id === id);
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
  const running: { work?: Promise<string>; giveUp: AbortController; id?: string } = { giveUp };
  const onCreated = (id: string): void => void (running.id = id);
  running.work = context.locks
    .withKey(podKey(namespace, pod), signal, () =>
      runSandbox(context, { name, config, runtime, onCreated }, { signal, span }),
    )
    .catch((error: unknown) => {
      throw signal.aborted ? explainAbort(signal, error) : error;
    });
  running.work.then(
    () => span.end(),
    (error: unknown) => span.end(error),
  );
  return running as Running;
}

/** What broke off in the middle says so in its own way; why it was given up is what the caller must know. */
function explainAbort({ reason }: AbortSignal, cause: unknown): CriError {
  const { code, message } = toCriError(reason);
  return new CriError(code, `${message}: ${describeError(cause)}`, { cause });
}

/** Without the caller's signal, for the same reason: half a Stop leaves more to clean up. */
async function endOnce(
  context: SandboxContext,
  kind: 'Stop' | 'Remove',
  given: string,
  parent: SpanContext | undefined,
  giveUpRun: (id: string) => Promise<void>,
): Promise<void> {
  const signal = AbortSignal.timeout(context.settings.runTimeoutMs);
  const span = context.tracer.start(`${kind}PodSandbox`, parent, { runtime: 'docker', sandbox: given });
  try {
    const id = await resolveSandboxId(context, given, signal);
    if (id === undefined) return span.end();
    await giveUpRun(id);
    const { name, namespace } = await identifySandbox(context, id, signal);
    const key = name === '' ? `id/${id}` : podKey(namespace, name);
    await context.locks.withKey(key, signal, () =>
      (kind === 'Stop' ? stopSandbox : removeSandbox)(context, id, signal),
    );
    span.end();
  } catch (error) {
    span.end(error);
    throw error;
  }
}
