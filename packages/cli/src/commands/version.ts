import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import { ownVersion } from '../checkout.js';
import type { StatusView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, outputOf } from '../command.js';
import { describeFailure } from '../failure.js';
import { colorsFor, type Io, writeJson, writeLines } from '../io.js';

/** Output of `-o json`. */
export interface VersionView {
  readonly podwire: string;
  /** null when no agent answers. */
  readonly agent: string | null;
  readonly node: string;
  /** CNI versions that are spoken. */
  readonly cni: readonly string[];
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows the versions of this program and, if one answers, of the agent. No agent is no error.',
    )
    .action(() => show(command, io));
  addOutput(addAgent(command));
  addExamples(command, [
    ['podwire version', ''],
    ['podwire version -o json', '{"podwire":…,"agent":…|null,"node":…,"cni":[…]}'],
  ]);
}

/** Milliseconds. */
const patience = 2_000;

async function show(command: Command, io: Io): Promise<void> {
  const { supportedVersions } = await import('@podwire/cni');
  const agent = await askAgent(command, io);
  const view: VersionView = {
    podwire: ownVersion(),
    agent: 'version' in agent ? agent.version : null,
    node: process.versions.node,
    cni: [...supportedVersions],
  };
  if (outputOf(command) === 'json') return writeJson(io, view);
  const paint = colorsFor(io, io.stdout);
  const skew = view.agent !== null && view.agent !== view.podwire;
  return writeLines(io, [
    `podwire  ${view.podwire}`,
    `agent    ${'version' in agent ? agent.version : paint.dim(agent.why)}`,
    `Node     ${view.node}`,
    `CNI      ${view.cni.join(' ')}`,
    ...(skew ? [paint.yellow('The agent is of another version: restart it after an upgrade.')] : []),
  ]);
}

async function askAgent(command: Command, io: Io): Promise<{ version: string } | { why: string }> {
  try {
    const api = await openLocatedApi(command, io, { timeout: patience });
    return { version: (await api.get<StatusView>('/v1/status')).version };
  } catch (error) {
    return { why: describeFailure(error).message };
  }
}
