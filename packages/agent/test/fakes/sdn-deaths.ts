/** Programs of a node that are killed, and started again. */
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { Machine } from './cluster-fixture.js';
import type { SdnFixture } from './sdn-fixture.js';

export async function restartAgent({ agent }: Machine): Promise<void> {
  await agent.kill9();
  await agent.start();
}

export async function restartSwitch(own: OpenVSwitch): Promise<void> {
  await own.killDaemon();
  await own.startDaemon();
}

/** The switch has no flows until the agent is back. */
async function restartBoth({ agent }: Machine, own: OpenVSwitch): Promise<void> {
  await agent.kill9();
  await restartSwitch(own);
  await agent.start();
}

async function restartDatabase({ database }: OpenVSwitch): Promise<void> {
  await database.kill();
  await database.start();
}

/** By the words that complete `while … is killed and started again`. */
export const deaths: readonly (readonly [what: string, happen: (fixture: SdnFixture) => Promise<void>])[] = [
  ['an agent', ({ machines }) => restartAgent(machines[0]!)],
  [
    'ovs-vswitchd of both nodes',
    async ({ switches }) => void (await Promise.all(switches.map(restartSwitch))),
  ],
  [
    'ovs-vswitchd, without an agent at first,',
    ({ machines, switches }) => restartBoth(machines[1]!, switches[1]!),
  ],
  ['ovsdb-server', ({ switches }) => restartDatabase(switches[0]!)],
];
