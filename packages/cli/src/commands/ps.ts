import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { showView } from '../output/show.js';
import { addListOptions, ofProblems, openPodView } from '../pods/view.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists the pods of this machine, and errors in manifests: those of the pod agent with what each waits for, and those that a kubelet or another runtime has attached through the node agent. One of the two agents is enough. With --socket or --config alone it lists what that node agent has attached.',
    )
    .option('--problems', 'only what is wrong with manifests, all of it')
    .action(() => show(command, io));
  addListOptions(command);
  addExamples(command, [
    ['podwire ps', ''],
    ['podwire ps -w', 'and each change'],
    ['podwire ps -n shop -o wide', 'with links, host ports, rates, MAC and network namespace'],
    ['podwire ps --problems', 'exit code 4 when there are any'],
    ['podwire ps -o name', 'one pod/NAMESPACE/NAME a line, for scripts'],
    ['podwire ps -o json', '{"pods":[…],"problems":[…],"endpoints":[…],"absent":[…]}'],
    [String.raw`podwire ps -o jsonpath='{range .pods[*]}{.name}{"\n"}{end}'`, 'as kubectl has it'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const { problems } = optionsOf(command) as { problems?: boolean };
  const view = await openPodView(command, io, 'either');
  return showView(command, io, problems === true ? ofProblems(view, io) : view);
}
