/** `podwire testbed restart`. */
import { PodwireError } from '@podwire/errors';
import { type Daemon, openTestbed, type TestbedNode } from '@podwire/testbed';
import { withInterrupt } from '../interrupt.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { chooseTestbed } from './choose.js';

export interface RestartCall {
  /** Of the testbed. */
  readonly name: string | undefined;
  readonly node: string;
  readonly what: 'agent' | 'ovs-vswitchd' | 'ovsdb-server';
  /** SIGKILL; else it is asked to end. */
  readonly kill: boolean;
  readonly json: boolean;
}

/** Ends a daemon of a node, and starts it again; one that has ended is started. When it resolves, the daemon serves. */
export async function restartDaemon(io: Io, { name, node, what, kill, json }: RestartCall): Promise<void> {
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    const daemon = findDaemon(testbed.node(node), what);
    const before = daemon.pid ?? null;
    await (kill ? daemon.kill9() : daemon.stop());
    await withInterrupt((signal) => daemon.start(signal));
    const pid = daemon.pid ?? null;
    if (json) return writeJson(io, { node, [what]: { before, pid } });
    const outcome = before === null ? 'had ended' : `${before} ${kill ? 'was killed' : 'has ended'}`;
    return writeLines(io, [`${what} of ${node}: ${outcome}, ${pid} serves`]);
  } finally {
    await testbed.release();
  }
}

function findDaemon({ name, agent, openVSwitch }: TestbedNode, what: RestartCall['what']): Daemon {
  if (what === 'agent') return agent;
  if (openVSwitch !== undefined) return what === 'ovs-vswitchd' ? openVSwitch.daemon : openVSwitch.database;
  const message = `${name} has no ${what}: only nodes of the model sdn have an Open vSwitch`;
  throw new PodwireError('TESTBED_FAILED', message, { action: null });
}
