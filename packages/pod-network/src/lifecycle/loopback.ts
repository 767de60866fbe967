import { type NetworkConfig, parseNetwork } from '@podwire/cni';
import type { NetworkCallOptions, PodAttachment } from '../contract.js';
import { loopbackInterface, type Scope, traceVariables } from './context.js';

/** The replacement for the plugin that runtimes have built in; the newest version that every `loopback` in use speaks. */
export const loopbackNetwork: NetworkConfig = parseNetwork(
  JSON.stringify({ cniVersion: '0.3.1', name: 'cni-loopback', plugins: [{ type: 'loopback' }] }),
);

/** Brings `lo` up in the sandbox, before its network. */
export async function setUpLoopback(
  { runtime, loopback, system, tracer }: Scope,
  { sandboxId, netns }: PodAttachment,
  signal: AbortSignal,
  { parent }: NetworkCallOptions,
): Promise<void> {
  if (loopback === 'none') return;
  if (loopback === 'plugin') {
    const attachment = { containerId: sandboxId, interfaceName: loopbackInterface, netns };
    await runtime.add(loopbackNetwork, attachment, { signal, env: traceVariables(parent) });
    return;
  }
  const span = parent && tracer.start('bring lo up', parent);
  try {
    system.bringLoopbackUp(netns);
    span?.end();
  } catch (error) {
    span?.end(error);
    throw error;
  }
}
