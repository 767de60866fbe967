/** Pods on machines with real agents and a switch each, with their projects. */
import assert from 'node:assert/strict';
import type { TestNamespace } from '@podwire/testkit';
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { addressesOf, type Machine } from './cluster-fixture.js';
import { callPlugin, type ClientAnswer } from './plugin-client.js';

export interface SdnPod {
  readonly machine: Machine;
  readonly namespace: TestNamespace;
  readonly address: string;
}

/** @returns undefined when the agent died first */
export function askFor(
  machine: Machine,
  command: string,
  own: TestNamespace,
  project: string,
  config: object = {},
): Promise<ClientAnswer | undefined> {
  const args = `K8S_POD_NAMESPACE=${project};K8S_POD_NAME=${own.name}`;
  return callPlugin(machine.agent.socket, {
    ...{ command, id: own.name, netns: own.path, args },
    config: { ...config },
  });
}

/** @throws AssertionError with the answer */
export async function addPod(machine: Machine, project: string): Promise<SdnPod> {
  const own = machine.host.addPod();
  const answer = await askFor(machine, 'ADD', own, project);
  assert.ok(answer?.ok, JSON.stringify(answer?.json) + machine.agent.log());
  return { machine, namespace: own, address: addressesOf(answer.json)[0]! };
}

export async function removePod({ machine, namespace: own }: SdnPod): Promise<void> {
  const answer = await askFor(machine, 'DEL', own, '');
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  machine.host.removePod(own);
}

/** All flows of `br0`, without counters and times. */
export async function dumpFlows(own: OpenVSwitch): Promise<string[]> {
  const text = await own.ofctl(['--no-stats', '--no-names', 'dump-flows', 'BRIDGE']);
  return text.split('\n').toSorted();
}
