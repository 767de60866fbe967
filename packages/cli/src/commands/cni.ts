import type { Command } from 'commander';
import { withInterrupt } from '../interrupt.js';
import type { Io } from '../io.js';

const examples = `
Examples:
  ip netns add blue
  NETCONFPATH=/etc/cni/net.d podwire cni add podwire /run/netns/blue
  CAP_ARGS='{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}' podwire cni add podwire /run/netns/blue
  podwire cni del podwire /run/netns/blue
  podwire cni status podwire -o json
`;

/** `podwire cni`: everything behind it is the tool's own, as `cnitool` has it. */
export function define(command: Command, io: Io): void {
  command
    .argument('[words...]', 'add, del, check, gc or status, with what they need')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((words: string[]) => run(words, io));
}

async function run(words: readonly string[], io: Io): Promise<void> {
  const { runCniTool } = await import('@podwire/cni');
  const { env, stdout, stderr } = io;
  io.exitCode = await withInterrupt((signal) =>
    runCniTool(words, { env, stdout, stderr, signal, name: 'podwire cni' }),
  );
  if (words.includes('--help') || words.includes('-h')) stdout.write(examples);
}
