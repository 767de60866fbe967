/** Sandboxes as the interface shows them: pure. */
import { NamespaceMode, PodSandbox, PodSandboxState, PodSandboxStatus } from '@podwire/cri';
import { isReady, type SandboxEntry } from '../state/inventory.js';
import { namespacesOf, type Sharing } from './plan.js';

export const stateOf = (entry: SandboxEntry): PodSandboxState =>
  isReady(entry) ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;

const modes = {
  own: NamespaceMode.CONTAINER,
  pod: NamespaceMode.POD,
  host: NamespaceMode.NODE,
} satisfies Record<Sharing, NamespaceMode>;

export function statusOfSandbox(entry: SandboxEntry): PodSandboxStatus {
  const { record, addresses } = entry;
  const { metadata, labels, annotations } = record.config;
  const { network, ipc, pid } = namespacesOf(record.config);
  const [ip = '', ...more] = isReady(entry) ? addresses : [];
  return PodSandboxStatus.fromPartial({
    ...{ id: record.id, metadata, labels, annotations, createdAt: record.createdAt, state: stateOf(entry) },
    runtimeHandler: record.runtimeHandler,
    network: { ip, additionalIps: more.map((each) => ({ ip: each })) },
    linux: { namespaces: { options: { network: modes[network], ipc: modes[ipc], pid: modes[pid] } } },
  });
}

export function showSandbox(entry: SandboxEntry): PodSandbox {
  const { id, config, createdAt, runtimeHandler } = entry.record;
  const { metadata, labels, annotations } = config;
  const state = stateOf(entry);
  return PodSandbox.fromPartial({ id, metadata, labels, annotations, createdAt, runtimeHandler, state });
}
