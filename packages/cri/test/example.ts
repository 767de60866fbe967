import { connectCri, ContainerConfig, isCriError, PodSandboxConfig } from '@podwire/cri';

/** Runs a program in a pod of its own. @returns what `hostname` says inside */
export async function sayHostname(socket: string, image: string): Promise<string> {
  const runtime = await connectCri({ socket, signal: AbortSignal.timeout(10_000) });
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: { name: 'hello', namespace: 'default', uid: crypto.randomUUID() },
    hostname: 'hello',
    linux: {},
  });
  const { podSandboxId } = await runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' });
  try {
    const config = ContainerConfig.fromPartial({
      metadata: { name: 'main' },
      image: { image },
      command: ['sleep', '1000'],
    });
    const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig });
    await runtime.startContainer({ containerId });
    const answer = await runtime.execSync({ containerId, cmd: ['hostname'], timeout: 5n });
    return Buffer.from(answer.stdout).toString('utf8').trim();
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return `there is no image ${image}`;
    throw error;
  } finally {
    await runtime.removePodSandbox({ podSandboxId });
    runtime.close();
  }
}
