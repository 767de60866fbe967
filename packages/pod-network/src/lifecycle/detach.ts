/** Taking a sandbox off its networks with what was recorded at ADD, and nothing else. */
import { type CachedAttachment, CniError, type NetworkConfig, parseNetwork } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import type { NetworkCallOptions } from '../contract.js';
import { describeFailures } from '../observe/failure-text.js';
import type { SandboxRecord } from '../state/records.js';
import { podInterface, type Scope, traceVariables, withinTotal } from './context.js';
import { loopbackNetwork } from './loopback.js';

export interface Detachment {
  readonly sandboxId: string;
  /** Undefined: the one of ADD, if it is still that one. */
  readonly netns?: string;
  /** Of an earlier boot: whatever has the path now, it is another namespace. */
  readonly netnsGone?: boolean;
}

/** The known networks of a sandbox. */
interface Held {
  readonly record: SandboxRecord | undefined;
  /** ADDs that finished. */
  readonly attachments: readonly CachedAttachment[];
}

/**
 * Past the gate. Does nothing for a sandbox that has no network (any more). When the DEL of a finished ADD fails, everything is
 * kept for another attempt. The failure of an ADD that never finished does not keep a pod from being deleted (containerd
 * #6565): what it may have left is tried again in the background.
 * @throws PodwireError NETWORK_DETACH_FAILED
 */
export async function detach(scope: Scope, sandbox: Detachment, options: NetworkCallOptions): Promise<void> {
  const { sandboxId } = sandbox;
  const held = await readHeld(scope, sandboxId);
  if (held.record === undefined && held.attachments.length === 0) scope.leftovers.delete(sandboxId);
  else {
    await withinTotal(scope.timeoutMs, options.signal, (signal) =>
      detachHeld(scope, sandbox, held, signal, options),
    );
  }
  scope.known.delete(sandboxId);
}

async function readHeld({ records, runtime }: Scope, sandboxId: string): Promise<Held> {
  const [record, attachments] = await Promise.all([records.read(sandboxId), runtime.attachments(sandboxId)]);
  return { record, attachments };
}

async function detachHeld(
  scope: Scope,
  sandbox: Detachment,
  held: Held,
  signal: AbortSignal,
  options: NetworkCallOptions,
): Promise<void> {
  const { log, leftovers, records } = scope;
  const { sandboxId } = sandbox;
  const targets = targetsOf(held);
  const failures = await delEach(scope, sandbox, held, targets, signal, options);
  const facts = { sandbox: sandboxId, pod: nameOf(held.record) };
  for (const { target, error } of failures) {
    const important = target.finished && !target.loopback;
    if (!important)
      log.warn({ ...facts, network: target.name, reason: describeFailures([error]) }, 'could not detach');
  }
  const fatal = failures.filter(({ target }) => target.finished && !target.loopback);
  if (fatal.length > 0) throw detachFailed(sandboxId, held.record, fatal);
  if (failures.some(({ target }) => !target.finished)) {
    leftovers.add(sandboxId);
    return;
  }
  await records.remove(sandboxId);
  leftovers.delete(sandboxId);
}

interface Target {
  readonly name: string;
  /** The operations to run when the cache has nothing usable. */
  readonly config: NetworkConfig | undefined;
  readonly interfaceName: string;
  readonly loopback: boolean;
  readonly finished: boolean;
}

/** Loopback first, as it was made first; then the network. */
function targetsOf({ record, attachments }: Held): readonly Target[] {
  const recorded = record && parseRecorded(record);
  const finished = attachments.map(({ network: name, interfaceName }): Target => ({
    name,
    config: recorded?.name === name ? recorded : undefined,
    interfaceName,
    loopback: name === loopbackNetwork.name,
    finished: true,
  }));
  const isUnfinished = recorded !== undefined && !finished.some(({ name }) => name === recorded.name);
  const unfinished: Target[] = isUnfinished
    ? [
        {
          name: recorded.name,
          config: recorded,
          interfaceName: record?.interfaceName ?? podInterface,
          loopback: false,
          finished: false,
        },
      ]
    : [];
  return [...finished, ...unfinished].toSorted((a, b) => Number(b.loopback) - Number(a.loopback));
}

function parseRecorded({ config }: SandboxRecord): NetworkConfig | undefined {
  try {
    return parseNetwork(config);
  } catch {
    return undefined;
  }
}

interface Failure {
  readonly target: Target;
  readonly error: CniError;
}

async function delEach(
  scope: Scope,
  sandbox: Detachment,
  held: Held,
  targets: readonly Target[],
  signal: AbortSignal,
  options: NetworkCallOptions,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const target of targets) {
    try {
      await delOne(scope, sandbox, held, target, signal, options);
    } catch (error) {
      failures.push({ target, error: CniError.from(error) });
    }
  }
  return failures;
}

async function delOne(
  scope: Scope,
  sandbox: Detachment,
  { record, attachments }: Held,
  target: Target,
  signal: AbortSignal,
  { parent }: NetworkCallOptions,
): Promise<void> {
  const known = record?.netns ?? attachments[0]?.netns;
  const candidate = sandbox.netnsGone === true ? '' : (sandbox.netns ?? known ?? '');
  const findNetns = (): string => usableNetns(scope, candidate, record);
  const del = (netns: string): Promise<unknown> =>
    scope.runtime.del(
      target.config ?? target.name,
      {
        containerId: sandbox.sandboxId,
        interfaceName: target.interfaceName,
        netns,
        // Where ADD finished the cache has its own, which are the same.
        ...(target.finished || record === undefined
          ? {}
          : { args: record.args, capabilityArgs: record.capabilityArgs }),
      },
      { signal, env: traceVariables(parent) },
    );
  const netns = findNetns();
  try {
    await del(netns);
  } catch (error) {
    // It went away under the plugin's hands: then there is only the host's side to clean.
    if (netns === '' || findNetns() !== '' || signal.aborted) throw error;
    await del('');
  }
}

/** Empty, which tells plugins that it is gone, unless the very namespace of ADD is there (cri-o #4727). */
function usableNetns({ system }: Scope, path: string, record: SandboxRecord | undefined): string {
  if (path === '') return '';
  const identity = system.identifyNamespace(path);
  const isAnother = record?.netnsIdentity !== undefined && record.netnsIdentity !== identity;
  return identity === undefined || isAnother ? '' : path;
}

function detachFailed(
  sandboxId: string,
  record: SandboxRecord | undefined,
  failures: readonly Failure[],
): PodwireError {
  const names = failures.map(({ target }) => target.name).join(', ');
  const words = describeFailures(failures.map(({ error }) => error));
  return new PodwireError(
    'NETWORK_DETACH_FAILED',
    `network ${names} could not detach ${nameOf(record)}: ${words}`,
    {
      cause: failures[0]?.error,
      details: { sandbox: sandboxId, network: names },
    },
  );
}

function nameOf(record: SandboxRecord | undefined): string {
  return record === undefined || record.name === ''
    ? 'the sandbox'
    : `pod ${record.namespace}/${record.name}`;
}
