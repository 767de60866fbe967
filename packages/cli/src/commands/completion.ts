import type { Command } from 'commander';
import { addExamples } from '../command.js';
import type { Io } from '../io.js';

const shells = ['bash', 'zsh', 'fish'] as const;

export function define(command: Command, io: Io, createWholeProgram: () => Promise<Command>): void {
  command
    .description(
      'Prints a shell completion script for commands, options, and the names of pods, containers, pools, nodes and testbeds.',
    )
    .argument('<shell>', shells.join(', '))
    .action((shell: string) => print(command, io, shell, createWholeProgram));
  addExamples(command, [
    ['podwire completion bash > /etc/bash_completion.d/podwire', 'for all users, from the next shell on'],
    ['source <(podwire completion zsh)', 'for this shell'],
    ['podwire completion fish > ~/.config/fish/completions/podwire.fish', ''],
  ]);
}

async function print(
  command: Command,
  io: Io,
  shell: string,
  createWholeProgram: () => Promise<Command>,
): Promise<void> {
  const [{ describeWords }, { completionScripts }] = await Promise.all([
    import('../completion/words.js'),
    import('../completion/scripts.js'),
  ]);
  const render = completionScripts[shell as (typeof shells)[number]];
  if (render === undefined) {
    return command.error(`error: completion knows ${shells.join(', ')}, not ${shell}`, { exitCode: 2 });
  }
  io.stdout.write(render(describeWords(await createWholeProgram())));
}
