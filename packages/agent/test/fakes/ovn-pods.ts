/** Pods on machines with real agents in a network of the model ovn. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestNamespace } from '@podwire/testkit';
import { addressesOf, type Machine } from './cluster-fixture.js';
import { callPlugin, type ClientAnswer } from './plugin-client.js';

export interface OvnPod {
  readonly machine: Machine;
  readonly namespace: TestNamespace;
  readonly name: string;
  readonly uid: string;
  /** IPv4 first. */
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface OvnPodOptions {
  /** That of the namespace when absent. */
  readonly name?: string;
  readonly project?: string;
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** @returns undefined when the agent died first */
export function askFor(
  machine: Machine,
  command: string,
  own: TestNamespace,
  { name = own.name, project = 'shop', uid = own.name, annotations = {} }: OvnPodOptions = {},
): Promise<ClientAnswer | undefined> {
  const args = `K8S_POD_NAMESPACE=${project};K8S_POD_NAME=${name};K8S_POD_UID=${uid}`;
  const runtimeConfig = { 'io.kubernetes.cri.pod-annotations': annotations };
  return callPlugin(machine.agent.socket, {
    ...{ command, id: own.name, netns: own.path, args },
    config: { runtimeConfig },
  });
}

/** @throws AssertionError with the answer */
export async function addPod(machine: Machine, options: OvnPodOptions = {}): Promise<OvnPod> {
  const own = machine.host.addPod();
  const uid = options.uid ?? randomUUID();
  const answer = await askFor(machine, 'ADD', own, { ...options, uid });
  assert.ok(answer?.ok, JSON.stringify(answer?.json) + machine.agent.log());
  const interfaces = answer.json['interfaces'] as { mac: string; sandbox?: string }[];
  const { mac } = interfaces.find(({ sandbox }) => sandbox !== undefined)!;
  const name = options.name ?? own.name;
  return { machine, namespace: own, name, uid, addresses: addressesOf(answer.json), mac };
}

export async function removePod({ machine, namespace: own, name, uid }: OvnPod): Promise<void> {
  const answer = await askFor(machine, 'DEL', own, { name, uid });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  machine.host.removePod(own);
}
