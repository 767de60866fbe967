import { compact } from '@podwire/platform';
import type { NetworkConfig, PluginConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import type { PluginExit } from '../exec/exec.js';
import { pluginMisbehaviour } from '../exec/outcome.js';
import type { Attachment } from '../request.js';
import { parseResult } from '../result/parse.js';
import type { AnyResult } from '../result/types.js';
import type { JsonObject } from '../shape.js';
import { isAtLeast } from '../version.js';
import { deriveRequestConfig, type Injection } from './derive.js';
import { type CallContext, cniVariables, runInvocation } from './plugin-call.js';
import type { AttachmentParameters, CallOptions } from './types.js';

/** One operation on one network, for the calls it consists of. */
export interface Operation {
  readonly network: NetworkConfig;
  readonly signal: AbortSignal;
  readonly env: NonNullable<CallOptions['env']>;
  /** True while a failed ADD is being undone. */
  readonly rollback?: boolean;
}

/** A result twice: as it was printed, with keys we do not know, and as it was read. */
export interface ChainResult {
  readonly raw: JsonObject;
  readonly result: AnyResult;
}

/** An ADD that stopped: how many plugins were started, and the result of the last that succeeded. */
export class ChainStopped extends Error {
  readonly started: number;
  readonly last: ChainResult | undefined;
  readonly reason: CniError;

  constructor(started: number, last: ChainResult | undefined, reason: CniError) {
    super(reason.message, { cause: reason });
    this.name = 'ChainStopped';
    this.started = started;
    this.last = last;
    this.reason = reason;
  }
}

type Verb = 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS';

/** Runs one plugin of the operation's network. */
export async function callPlugin(
  context: CallContext,
  operation: Operation,
  verb: Verb,
  index: number,
  attachment: AttachmentParameters | undefined,
  injection: Injection,
  file?: string,
): Promise<PluginExit> {
  const { network, signal, env, rollback = false } = operation;
  const plugin = network.plugins[index] as PluginConfig;
  return runInvocation(context, {
    command: verb,
    plugin: plugin.type,
    file: file ?? (await context.exec.find(plugin.type, context.pluginPath)),
    index,
    network: network.name,
    ...(attachment && { containerId: attachment.containerId, interfaceName: attachment.interfaceName }),
    rollback,
    stdin: deriveRequestConfig(network, plugin, injection),
    env: { ...env, ...cniVariables(verb, context.pluginPath, attachment) },
    signal,
  });
}

/** Section 3, "Adding an attachment". @throws ChainStopped */
export async function addChain(
  context: CallContext,
  operation: Operation,
  attachment: AttachmentParameters,
): Promise<ChainResult> {
  let last: ChainResult | undefined;
  let started = 0;
  try {
    const files = await findAll(context, operation.network);
    for (const [index, file] of files.entries()) {
      operation.signal.throwIfAborted();
      started = index + 1;
      const injection = injectionOf(attachment, last?.raw);
      const exit = await callPlugin(context, operation, 'ADD', index, attachment, injection, file);
      last = readResult(operation.network, index, exit);
    }
    return last as ChainResult;
  } catch (error) {
    throw new ChainStopped(started, last, CniError.from(error));
  }
}

/** Looks all plugins up before the first is run, so that a missing one costs nothing to undo. */
async function findAll(context: CallContext, { plugins }: NetworkConfig): Promise<readonly string[]> {
  return Promise.all(plugins.map(async ({ type }) => context.exec.find(type, context.pluginPath)));
}

function injectionOf({ capabilityArgs }: AttachmentParameters, prevResult: unknown): Injection {
  return { ...(capabilityArgs && { capabilityArgs }), ...compact({ prevResult }) };
}

/** `null` counts as an empty result, and a missing version as the configuration's (cni #895). */
function readResult({ cniVersion, plugins }: NetworkConfig, index: number, exit: PluginExit): ChainResult {
  try {
    const printed = JSON.parse(exit.stdout) as JsonObject | null;
    const result = parseResult(printed ?? {}, cniVersion);
    return { raw: { ...printed, cniVersion: result.cniVersion }, result };
  } catch (error) {
    const source = { plugin: plugins[index]?.type ?? '', command: 'ADD' as const };
    const problem =
      exit.stdout.trim() === ''
        ? 'it printed no result'
        : `its result is unusable: ${(error as Error).message}`;
    throw pluginMisbehaviour(source, exit, problem, error);
  }
}

/** Section 3, "Deleting an attachment", for the first `count` plugins of the network. */
export async function delChain(
  context: CallContext,
  operation: Operation,
  attachment: AttachmentParameters,
  prevResult: unknown,
  count = operation.network.plugins.length,
): Promise<void> {
  const known = isAtLeast(operation.network.cniVersion, '0.4.0') ? prevResult : undefined;
  for (let index = count - 1; index >= 0; index--) {
    await callPlugin(context, operation, 'DEL', index, attachment, injectionOf(attachment, known));
  }
}

/** Section 3, "Checking an attachment". */
export async function checkChain(
  context: CallContext,
  operation: Operation,
  attachment: AttachmentParameters,
  prevResult: unknown,
): Promise<void> {
  for (const index of operation.network.plugins.keys()) {
    await callPlugin(context, operation, 'CHECK', index, attachment, injectionOf(attachment, prevResult));
  }
}

/** Section 2, STATUS: the first failure is the answer. */
export async function statusChain(context: CallContext, operation: Operation): Promise<void> {
  if (!isAtLeast(operation.network.cniVersion, '1.1.0')) return;
  for (const index of operation.network.plugins.keys()) {
    await callPlugin(context, operation, 'STATUS', index, undefined, {});
  }
}

/** Section 3, "Garbage-collecting a network": every plugin is asked, failures are returned together. */
export async function gcChain(
  context: CallContext,
  operation: Operation,
  validAttachments: readonly Attachment[] | null,
): Promise<readonly CniError[]> {
  const failures: CniError[] = [];
  if (!isAtLeast(operation.network.cniVersion, '1.1.0')) return failures;
  for (const index of operation.network.plugins.keys()) {
    try {
      await callPlugin(context, operation, 'GC', index, undefined, { validAttachments });
    } catch (error) {
      failures.push(CniError.from(error));
    }
  }
  return failures;
}

/** Nothing is known of what is to be checked. */
export function unknownAttachment(network: string, { containerId, interfaceName }: Attachment): CniError {
  return new CniError(
    errorCodes.unknownContainer,
    `container ${containerId} has no cached attachment ${interfaceName} to network ${network}`,
  );
}
