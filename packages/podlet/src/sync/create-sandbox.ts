import { isCriError } from '@podwire/cri';
import { describeError, PodwireError } from '@podwire/errors';
import { podName } from '@podwire/pod-spec';
import { podDns } from '../runtime-config/dns.js';
import { labelSandbox } from '../runtime/labels.js';
import { callRuntime, type SandboxContext } from './sync-context.js';

/** After so many refusals of a name that nothing is listed under, the next number is taken. */
const patienceWithConflicts = 5;

/**
 * RunPodSandbox and what has to be known of the result. After any failure the pod is listed, so that a sandbox that did come
 * to be is found by the next attempt instead of being in its way ("name is reserved": containerd #9947).
 * @throws PodwireError NETWORK_NOT_READY, or what the runtime says
 */
export async function createSandbox(context: SandboxContext, attempt: number): Promise<string> {
  const { worker, signal, sandboxes } = context;
  refuseWithoutNetwork(context);
  const waiting = worker.trace.child('wait for a slot');
  const before = new Set(context.view.observed(worker.uid).sandboxes.map(({ id }) => id));
  try {
    const id = await sandboxes.run(() => {
      waiting.end();
      return runSandbox(context, Math.max(attempt, worker.attemptFloor));
    }, signal);
    worker.sandboxProblem = undefined;
    worker.conflicts = 0;
    return id;
  } catch (error) {
    waiting.end(error);
    await listAnew(context);
    const joined = findCreated(context, before);
    if (joined !== undefined) return joined;
    reportFailure(context, error);
    throw error;
  }
}

/** The call failed and its work was done all the same: a deadline that passed, an answer that was lost. */
function findCreated(context: SandboxContext, before: ReadonlySet<string>): string | undefined {
  const { uid, pod } = context.worker;
  const [newest, ...others] = context.view.observed(uid).sandboxes;
  if (newest?.ready !== true || before.has(newest.id) || others.some(({ ready }) => ready)) return undefined;
  return pod.spec.hostNetwork || newest.addresses.length > 0 ? newest.id : undefined;
}

async function listAnew({ view, worker, signal }: SandboxContext): Promise<void> {
  if (!signal.aborted) await view.refreshPod(worker.uid, signal).catch(() => undefined);
}

/** The marker text is what the pause of one second is chosen by (specification §1.4). */
function refuseWithoutNetwork(context: SandboxContext): void {
  const problem = context.worker.pod.spec.hostNetwork ? undefined : context.networkProblem();
  if (problem === undefined) return;
  const message = `network is not ready: ${problem}`;
  context.worker.sandboxProblem = { reason: 'NetworkNotReady', message };
  context.recordEvent('Warning', 'NetworkNotReady', message);
  throw new PodwireError('NETWORK_NOT_READY', message);
}

async function runSandbox(context: SandboxContext, attempt: number): Promise<string> {
  const { worker, runtime, settings, node } = context;
  const { pod } = worker;
  const resolvConfText = await node.resolvConf();
  const built = context.buildSandboxConfig(pod, attempt, { ...node, resolvConfText }, context.directories);
  const config = labelSandbox(built, pod, node.name);
  for (const warning of podDns(pod, { ...node, resolvConfText }).warnings) {
    context.recordEvent('Warning', 'DNSConfigForming', warning);
  }
  const runtimeHandler = pod.spec.runtimeClassName ?? '';
  const { podSandboxId } = await callRuntime(
    context,
    'RunPodSandbox',
    (options) => runtime.runPodSandbox({ config, runtimeHandler }, options),
    settings.runSandboxTimeoutMs,
  );
  await callRuntime(context, 'PodSandboxStatus', ({ signal }) =>
    context.view.refreshSandbox(podSandboxId, signal ?? context.signal),
  );
  requireAddress(context, podSandboxId);
  return podSandboxId;
}

/** Without this check the next sync would replace the sandbox at once, again and again. */
function requireAddress(context: SandboxContext, id: string): void {
  const { pod, uid } = context.worker;
  const sandbox = context.view.observed(uid).sandboxes.find((one) => one.id === id);
  if (sandbox?.ready !== true) {
    throw new Error(`Sandbox ${id} of pod ${podName(pod)} is not ready right after it was created.`);
  }
  if (!pod.spec.hostNetwork && sandbox.addresses.length === 0) {
    throw new PodwireError(
      'NETWORK_ATTACH_FAILED',
      `Sandbox ${id} of pod ${podName(pod)} was created without an address.`,
    );
  }
}

function reportFailure(context: SandboxContext, error: unknown): void {
  const { worker, signal } = context;
  if (signal.aborted) return;
  if (!(error instanceof PodwireError && error.code === 'NETWORK_NOT_READY')) {
    const message = `Failed to create pod sandbox: ${describeError(error)}`;
    worker.sandboxProblem = { reason: 'FailedCreatePodSandBox', message };
    context.recordEvent('Warning', 'FailedCreatePodSandBox', message);
  }
  if (isNameConflict(error)) noteConflict(context);
}

/** Another call is still creating under this name: it is waited for, but not for ever. */
function noteConflict({ worker, view }: SandboxContext): void {
  worker.conflicts += 1;
  if (worker.conflicts < patienceWithConflicts) return;
  worker.conflicts = 0;
  const highest = view
    .observed(worker.uid)
    .sandboxes.reduce((most, { attempt }) => Math.max(most, attempt), 0);
  worker.attemptFloor = Math.max(worker.attemptFloor, highest) + 1;
}

/** A creation of the same name is under way, or its remains are in the way. */
export function isNameConflict(error: unknown): boolean {
  if (isCriError(error, 'ALREADY_EXISTS')) return true;
  return isCriError(error) && /is reserved|already in use|already exists/i.test(error.message);
}
