import type { Command } from 'commander';
import { addExamples, addOutput, readSeconds } from '../command.js';
import type { Io } from '../io.js';
import { addDirectory } from '../pods/locate.js';
import { runDown } from './down.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Removes pods by name, as `podwire down NAME`. Manifest files stay as they are: one that has no other pod is not watched any more, one with several is read without the removed ones until `podwire up` is given it again.',
    )
    .argument('<pods...>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pods')
    .option('--timeout <seconds>', 'how long to wait for pods to end', readSeconds, 60)
    .action((words: string[]) => runDown(command, io, words.map(asPod)));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire rm web', ''],
    ['podwire rm shop/web shop/api', ''],
  ]).addHelpText('after', '\nExit code 4: a pod had not ended in time.');
}

/** A file of the same name is not meant here. */
const asPod = (word: string): string => (word.startsWith('pod/') ? word : `pod/${word}`);
