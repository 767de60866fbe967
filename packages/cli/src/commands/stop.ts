import type { PodView } from '@podwire/podlet';
import type { Command } from 'commander';
import { addExamples, addOutput, readSeconds } from '../command.js';
import type { Io } from '../io.js';
import { addDirectory } from '../pods/locate.js';
import { changePods } from '../pods/change.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Ends pods and keeps them stopped, also when the pod agent or the machine starts again, until `podwire restart` or `podwire up` of their manifest. Their logs stay, their addresses do not.',
    )
    .argument('<pods...>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pods')
    .option('--timeout <seconds>', 'how long to wait for pods to end', readSeconds, 60)
    .action((words: string[]) => run(command, io, words));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire stop web', ''],
    ['podwire restart web', 'runs it again'],
  ]).addHelpText('after', '\nExit code 4: a pod had not ended in time.');
}

async function run(command: Command, io: Io, words: readonly string[]): Promise<void> {
  await changePods(command, io, words, {
    doing: 'stopping',
    done: 'stopped',
    request: async (api, { namespace, name }) => {
      await api.post('/v1/pods/stop', { namespace, name });
      return hasEnded;
    },
  });
}

/** An edited manifest makes it another pod of the same name, which is stopped too. */
function hasEnded(pod: PodView | undefined): boolean {
  return pod === undefined || pod.stage === 'terminated';
}
