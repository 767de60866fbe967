/** `podwire testbed restart`. */
import { openTestbed } from '@podwire/testbed';
import { withInterrupt } from '../interrupt.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { chooseTestbed } from './choose.js';

export interface RestartCall {
  /** Of the testbed. */
  readonly name: string | undefined;
  readonly node: string;
  /** SIGKILL; else it is asked to end. */
  readonly kill: boolean;
  readonly json: boolean;
}

/** Ends the agent of a node, and starts it again; an agent that has ended is started. When it resolves, the agent serves. */
export async function restartAgent(io: Io, { name, node, kill, json }: RestartCall): Promise<void> {
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    const { agent } = testbed.node(node);
    const before = agent.pid ?? null;
    await (kill ? agent.kill9() : agent.stop());
    await withInterrupt((signal) => agent.start(signal));
    const pid = agent.pid ?? null;
    if (json) return writeJson(io, { node, agent: { before, pid } });
    const what = before === null ? 'had ended' : `${before} ${kill ? 'was killed' : 'has ended'}`;
    return writeLines(io, [`agent of ${node}: ${what}, ${pid} serves`]);
  } finally {
    await testbed.release();
  }
}
