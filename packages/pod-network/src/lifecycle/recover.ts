/** Cleans up after an earlier life of this process, or of this machine. */
import type { SandboxRecord } from '../state/records.js';
import { describeFailures } from '../observe/failure-text.js';
import { podKey, type Scope } from './context.js';
import { detach, type Detachment } from './detach.js';

/** At once; the plugins lock what they share anyway. */
const width = 4;

/**
 * Finds sandboxes of an earlier boot, whose namespaces are gone with it (plugins #252), and those whose ADD was cut off by the
 * end of the process, and takes them off the network. Failures are logged and stay for {@link retryLeftovers}.
 */
export async function recover(scope: Scope, signal: AbortSignal): Promise<void> {
  const records = await scope.records.list();
  const stale: Stale[] = [];
  for (const record of records) {
    const why = await whyStale(scope, record);
    if (why === undefined) continue;
    scope.leftovers.add(record.sandboxId);
    stale.push({ record, why });
  }
  const queue = stale.values();
  const work = async (): Promise<void> => {
    for (const { record, why } of queue) if (!signal.aborted) await takeOff(scope, record, why, signal);
  };
  await Promise.all(Array.from({ length: width }, work));
}

interface Stale {
  readonly record: SandboxRecord;
  readonly why: string;
}

async function whyStale(scope: Scope, record: SandboxRecord): Promise<string | undefined> {
  if (isOfEarlierBoot(scope.bootId, record)) return 'it is of an earlier boot';
  return (await mayBeFinished(scope, record)) ? undefined : 'its ADD was cut off';
}

/** Also where the cache cannot be read now: that must neither cut off a pod that runs, nor keep the others from being looked at. */
async function mayBeFinished(
  { runtime, log }: Scope,
  { sandboxId, network }: SandboxRecord,
): Promise<boolean> {
  try {
    return (await runtime.attachments(sandboxId)).some((attachment) => attachment.network === network);
  } catch (error) {
    const reason = describeFailures([error]);
    log.warn(
      { sandbox: sandboxId, reason },
      'could not find out whether the network of a sandbox is complete',
    );
    return true;
  }
}

/** An id that cannot be told is no proof. */
function isOfEarlierBoot(bootId: string, record: SandboxRecord): boolean {
  return bootId !== '' && record.bootId !== '' && record.bootId !== bootId;
}

async function takeOff(scope: Scope, record: SandboxRecord, why: string, signal: AbortSignal): Promise<void> {
  const { log, leftovers, bootId } = scope;
  const { sandboxId, namespace, name } = record;
  const facts = { sandbox: sandboxId, pod: `${namespace}/${name}`, network: record.network, why };
  const target: Detachment = { sandboxId, netnsGone: isOfEarlierBoot(bootId, record) };
  try {
    await scope.gate.shared(podKey(record), signal, async () => {
      // Set up anew, or torn down, while this waited.
      if (leftovers.has(sandboxId)) await detach(scope, target, { signal });
    });
    if (!leftovers.has(sandboxId)) log.info(facts, 'took a leftover off the network');
  } catch (error) {
    log.warn({ ...facts, reason: describeFailures([error]) }, 'could not take a leftover off the network');
  }
}

/** Another attempt for all that could not be taken off. Never rejects. */
export async function retryLeftovers(scope: Scope, signal: AbortSignal): Promise<void> {
  for (const sandboxId of [...scope.leftovers]) {
    if (signal.aborted) return;
    await retryLeftover(scope, sandboxId, signal);
  }
}

async function retryLeftover(scope: Scope, sandboxId: string, signal: AbortSignal): Promise<void> {
  let record: SandboxRecord | undefined;
  try {
    record = await scope.records.read(sandboxId);
  } catch (error) {
    scope.log.warn(
      { sandbox: sandboxId, reason: describeFailures([error]) },
      'could not look for a leftover',
    );
    return;
  }
  if (record === undefined) scope.leftovers.delete(sandboxId);
  else await takeOff(scope, record, 'an earlier attempt failed', signal);
}
