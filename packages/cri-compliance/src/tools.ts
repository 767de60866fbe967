/** Tools for the cases. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  ContainerConfig,
  ContainerState,
  type ContainerStatus,
  type CriCode,
  CriError,
  PodSandboxConfig,
  type PodSandboxStatus,
} from '@podwire/cri';
import type { CaseContext } from './target.js';

type SandboxFields = Parameters<typeof PodSandboxConfig.fromPartial>[0];
type ContainerFields = Parameters<typeof ContainerConfig.fromPartial>[0];

export interface Sandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
}

export const unknownId = 'c0ffee'.repeat(10).padEnd(64, '0');

export const uniqueName = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

/** A configuration as a kubelet makes it, of a unique pod. */
export function sandboxConfig(fields: SandboxFields = {}): PodSandboxConfig {
  const name = uniqueName('pod');
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'compliance', uid: `uid-${name}` },
    hostname: name,
    ...fields,
    linux: fields.linux ?? {},
  });
}

/** Runs a sandbox for the time of `work`; it is removed afterwards whatever happens. */
export async function withSandbox(
  { runtime }: CaseContext,
  fields: SandboxFields,
  work: (sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const config = sandboxConfig(fields);
  const { podSandboxId: id } = await runtime.runPodSandbox({ config, runtimeHandler: '' });
  try {
    await work({ id, config });
  } finally {
    await removeSandbox(runtime, id);
  }
}

/** Attempts in all. */
const mostRemovals = 3;

/**
 * containerd kills a container through its shim; when the container ends by itself just then, so does the shim, and the answer is
 * `ttrpc: closed`. The caller tries again, as a kubelet does.
 */
async function removeSandbox(runtime: CaseContext['runtime'], podSandboxId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await runtime.removePodSandbox({ podSandboxId });
      return;
    } catch (error) {
      const isShimGone = error instanceof CriError && error.message.includes('ttrpc: closed');
      if (!isShimGone || attempt === mostRemovals) throw error;
    }
  }
}

/** @returns its id. It goes with the sandbox. */
export async function createContainer(
  { runtime, image }: CaseContext,
  sandbox: Sandbox,
  fields: ContainerFields,
): Promise<string> {
  const config = ContainerConfig.fromPartial({
    metadata: { name: uniqueName('container') },
    image: { image },
    ...fields,
    linux: fields.linux ?? {},
  });
  const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
  return (await runtime.createContainer(request)).containerId;
}

export async function startContainer(
  context: CaseContext,
  sandbox: Sandbox,
  fields: ContainerFields,
): Promise<string> {
  const containerId = await createContainer(context, sandbox, fields);
  await context.runtime.startContainer({ containerId });
  return containerId;
}

/** Runs a shell's script inside and @returns what it wrote. */
export async function runInside(context: CaseContext, containerId: string, script: string): Promise<string> {
  const cmd = [context.busybox, 'sh', '-c', script];
  const answer = await context.runtime.execSync({ containerId, cmd, timeout: 20n });
  assert.equal(answer.exitCode, 0, `${script}: ${text(answer.stderr)}`);
  return text(answer.stdout).trim();
}

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

export async function containerStatus(
  { runtime }: CaseContext,
  containerId: string,
): Promise<ContainerStatus> {
  const { status } = await runtime.containerStatus({ containerId, verbose: false });
  return status ?? assert.fail('ContainerStatus answered without a status');
}

export async function sandboxStatus(
  { runtime }: CaseContext,
  podSandboxId: string,
): Promise<PodSandboxStatus> {
  const { status } = await runtime.podSandboxStatus({ podSandboxId, verbose: false });
  return status ?? assert.fail('PodSandboxStatus answered without a status');
}

/** Runtimes need not have events, so this asks again and again. */
export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await setTimeout(20);
  }
  return assert.fail(`this did not come: ${what}`);
}

export const untilExited = (context: CaseContext, id: string): Promise<ContainerStatus> =>
  until(`the exit of ${id}`, async () => {
    const status = await containerStatus(context, id);
    return status.state === ContainerState.CONTAINER_EXITED ? status : undefined;
  });

/** @param codes any will do when none is given */
export async function assertRefused(call: Promise<unknown>, ...codes: readonly CriCode[]): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof CriError, `it must be a CriError and is ${String(error)}`);
    if (codes.length > 0)
      assert.ok(
        codes.includes(error.code),
        `${error.code} is not one of ${codes.join(', ')}: ${error.message}`,
      );
    return true;
  });
}

/** That of now within some minutes: the unit is right. */
export function assertRecent(nanoseconds: bigint, what: string): void {
  const minutes = (BigInt(Date.now()) * 1_000_000n - nanoseconds) / 60_000_000_000n;
  assert.ok(minutes > -10n && minutes < 10n, `${what} is not the time of now in nanoseconds: ${nanoseconds}`);
}
