import { formatCniArgs } from '../args.js';
import { CniError } from '../error.js';
import type { Exec, PluginExit } from '../exec/exec.js';
import { pluginEnded, pluginFailure } from '../exec/outcome.js';
import type { Command } from '../request.js';
import type { AttachmentParameters, PluginFinish, PluginStart, RuntimeObserver } from './types.js';

/** The context that all calls of a runtime share. */
export interface CallContext {
  readonly exec: Exec;
  readonly pluginPath: readonly string[];
  /** The environment that plugins inherit; CNI variables override it. */
  readonly env: Readonly<Record<string, string>>;
  readonly observer: RuntimeObserver;
  readonly now: () => number;
}

/** One plugin to run with one command. */
export interface Invocation extends PluginStart {
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * The variables of section 2, "Parameters". All of them are always set, so that none of this process's own leaks in;
 * those an operation does not have are empty, as Go's library sends them.
 */
export function cniVariables(
  command: Command,
  pluginPath: readonly string[],
  attachment: Partial<AttachmentParameters> = {},
): Record<string, string> {
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: attachment.containerId ?? '',
    CNI_NETNS: attachment.netns ?? '',
    CNI_ARGS: formatCniArgs(attachment.args ?? []),
    CNI_IFNAME: attachment.interfaceName ?? '',
    CNI_PATH: pluginPath.join(':'),
  };
}

/**
 * Runs one plugin and tells the observer.
 * @throws PluginError when it was started and failed or was ended; CniError when it could not be started.
 */
export async function runInvocation(context: CallContext, invocation: Invocation): Promise<PluginExit> {
  const { stdin, env, signal, ...start } = invocation;
  signal.throwIfAborted();
  tell(() => context.observer.pluginStarted?.(start));
  const began = context.now();
  let exit: PluginExit | undefined;
  try {
    exit = await context.exec.run({ file: start.file, env: { ...context.env, ...env }, stdin, signal });
    throwIfFailed(start, exit, signal);
    tell(() => context.observer.pluginFinished?.(finish(start, context.now() - began, exit)));
    return exit;
  } catch (error) {
    tell(() => context.observer.pluginFinished?.(finish(start, context.now() - began, exit, error)));
    throw error;
  }
}

function throwIfFailed(start: PluginStart, exit: PluginExit, signal: AbortSignal): void {
  const failure = pluginFailure(start, exit);
  if (failure === undefined) return;
  throw signal.aborted ? pluginEnded(start, exit, signal.reason) : failure;
}

function finish(
  start: PluginStart,
  durationMs: number,
  exit: PluginExit | undefined,
  error?: unknown,
): PluginFinish {
  return {
    ...start,
    durationMs,
    exitCode: exit?.code ?? null,
    exitSignal: exit?.signal ?? null,
    stderr: exit?.stderr ?? '',
    ...(error === undefined ? {} : { error: CniError.from(error) }),
  };
}

/** Observers only watch; see {@link RuntimeObserver}. */
export function tell(call: () => void): void {
  try {
    call();
  } catch {
    // There is no caller to report it to: the operation must go on.
  }
}
