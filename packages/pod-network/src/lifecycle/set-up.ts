import { type AttachmentParameters, CniError, type NetworkConfig, RollbackError } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { AttachedPod, NetworkCallOptions, PodAttachment } from '../contract.js';
import { type CniInputs, readBandwidth, toCniInputs } from '../inputs/index.js';
import { describeFailures } from '../observe/failure-text.js';
import type { SandboxRecord } from '../state/records.js';
import { addressesOf } from './addresses.js';
import {
  loopbackInterface,
  podInterface,
  podKey,
  type Scope,
  traceVariables,
  withinTotal,
} from './context.js';
import { detach } from './detach.js';
import { loopbackNetwork, setUpLoopback } from './loopback.js';

/** See `PodNetwork.setUp`. */
export async function setUpPod(
  scope: Scope,
  pod: PodAttachment,
  options: NetworkCallOptions,
): Promise<AttachedPod> {
  try {
    return await scope.gate.shared(podKey(pod), options.signal, () => attach(scope, pod, options));
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'NETWORK_NOT_READY') throw error;
    throw attachFailed(scope, pod, error);
  }
}

async function attach(scope: Scope, pod: PodAttachment, options: NetworkCallOptions): Promise<AttachedPod> {
  const network = scope.network();
  const inputs = inputsOf(scope, pod, network);
  // An ADD must not be repeated: what an earlier attempt left comes off first.
  await detach(scope, { sandboxId: pod.sandboxId, netns: pod.netns }, options);
  if (scope.leftovers.has(pod.sandboxId)) {
    throw new CniError(11, 'what an earlier attempt for this sandbox left cannot be taken off yet');
  }
  // Before the first change: after a crash it says what may exist (containerd #5768).
  await scope.records.write(recordOf(scope, pod, network, inputs));
  try {
    return await withinTotal(scope.timeoutMs, options.signal, async (signal) => {
      await setUpLoopback(scope, pod, signal, options);
      return addNetwork(scope, pod, network, inputs, signal, options);
    });
  } catch (error) {
    await takeBack(scope, pod, error);
    throw error;
  }
}

async function addNetwork(
  scope: Scope,
  { sandboxId, netns }: PodAttachment,
  network: NetworkConfig,
  { args, capabilityArgs }: CniInputs,
  signal: AbortSignal,
  { parent }: NetworkCallOptions,
): Promise<AttachedPod> {
  const attachment: AttachmentParameters = {
    containerId: sandboxId,
    interfaceName: podInterface,
    netns,
    args,
    capabilityArgs,
  };
  const result = await scope.runtime.add(network, attachment, { signal, env: traceVariables(parent) });
  const addresses = addressesOf(result, podInterface);
  scope.known.set(sandboxId, addresses);
  return { addresses, network: network.name };
}

/** The runtime has undone the ADD already, with a deadline of its own; what remains is loopback and the record. */
async function takeBack(scope: Scope, { sandboxId, netns }: PodAttachment, error: unknown): Promise<void> {
  if (scope.loopback === 'plugin') {
    const loopback = { containerId: sandboxId, interfaceName: loopbackInterface, netns };
    await scope.runtime.del(loopbackNetwork, loopback).catch((reason: unknown) => {
      scope.log.warn({ sandbox: sandboxId, reason: describeFailures([reason]) }, 'could not take lo back');
    });
  }
  if (error instanceof RollbackError) {
    scope.leftovers.add(sandboxId);
    return;
  }
  await scope.records.remove(sandboxId).catch((reason: unknown) => {
    scope.log.warn({ sandbox: sandboxId, reason: describeFailures([reason]) }, 'could not remove a record');
  });
}

/** @throws CniError when an annotation cannot be used */
function inputsOf(scope: Scope, pod: PodAttachment, network: NetworkConfig): CniInputs {
  const { bandwidth, problems } = readBandwidth(pod.annotations);
  const wantsBandwidth = network.plugins.some(({ capabilities = {} }) => capabilities['bandwidth'] === true);
  if (problems.length > 0) {
    const words = problems.map(({ annotation, message }) => `annotation ${annotation} ${message}`).join('; ');
    if (wantsBandwidth) throw new CniError(7, words);
    scope.log.warn({ pod: nameOf(pod), reason: words }, 'an annotation cannot be used');
  }
  const { cgroupParent, dns, ...rest } = pod;
  return toCniInputs(
    {
      ...rest,
      podCidrs: scope.podCidrs(),
      ...compact({ dns, bandwidth, cgroupPath: cgroupParent }),
    },
    pod.sandboxId,
  );
}

function recordOf(
  { loopback, bootId, system }: Scope,
  { sandboxId, namespace, name, uid, netns }: PodAttachment,
  network: NetworkConfig,
  { args, capabilityArgs }: CniInputs,
): SandboxRecord {
  const netnsIdentity = system.identifyNamespace(netns);
  if (netnsIdentity === undefined) throw new CniError(3, `there is no network namespace at ${netns}`);
  return {
    version: 1,
    ...{ sandboxId, namespace, name, uid, netns, netnsIdentity },
    interfaceName: podInterface,
    network: network.name,
    config: network.source,
    ...{ args, capabilityArgs, loopback, bootId },
  };
}

function attachFailed(scope: Scope, pod: PodAttachment, error: unknown): PodwireError {
  const words = error instanceof PodwireError ? error.message : describeFailures([error]);
  return new PodwireError('NETWORK_ATTACH_FAILED', `pod ${nameOf(pod)} could not be attached: ${words}`, {
    // The words have both failures; the one to act on is that of the ADD.
    cause: error instanceof RollbackError ? error.addError : error,
    details: { sandbox: pod.sandboxId, pod: nameOf(pod) },
  });
}

const nameOf = ({ namespace, name }: PodAttachment): string => `${namespace}/${name}`;
