/** The sub-commands of `podwire ipam` that work on a cluster's store. */
import type { Command } from 'commander';
import { addExamples, addOutput } from '../command.js';
import type { Io } from '../io.js';
import { readCount, readIp } from './arguments.js';
import { addStore } from './options.js';

export function defineClusterIpam(command: Command, io: Io): void {
  defineCheck(command.command('check'), io);
  defineRelease(command.command('release'), io);
  defineSplit(command.command('split'), io);
  defineMigrate(command.command('migrate'), io);
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

function defineCheck(command: Command, io: Io): void {
  command
    .summary('check the addresses of the cluster, and repair them')
    .description(
      'Checks the whole store, twice, and reports addresses that are leaked (held by nodes that are gone or do not own the block), duplicate or outside of every pool, and objects that are orphaned, pending for too long, or unreadable. With --fix it repairs what is safe: nothing that a registered node holds, and nothing that has changed since the check.',
    )
    .option('--fix', 'repair what is safe; list what is left and why')
    .option(
      '--from-report <file>',
      'with --fix: an earlier report, for problems that must persist; repeatable',
      collect,
    )
    .action(async () => (await import('./ipam-check.js')).checkOfCluster(command, io));
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire ipam check', ''],
    ['podwire ipam check --fix', ''],
    ['podwire ipam check -o json >now.json', '{"at","revision","looked","findings":[{"id","kind",…}]}'],
    ['podwire ipam check --fix --from-report now.json', ''],
  ]).addHelpText('after', '\nExit code 4: something is wrong (with --fix: is left).');
}

function defineRelease(command: Command, io: Io): void {
  command
    .summary('release leaked addresses')
    .description(
      'Releases addresses: deletes their allocation records, also those of borrowed addresses and of workloads. Refused while the node that holds one is registered: delete the pod there, or the node with `podwire nodes forget`. With --from-report, releases what several reports of `ipam check` agree on and still holds.',
    )
    .argument('[address...]', 'addresses', (text: string, before: readonly string[] = []) => [
      ...before,
      readIp(text),
    ])
    .option('--from-report <file>', 'a report of `ipam check -o json`; repeatable', collect)
    .option('--node <name>', 'only the allocation of this node: for an address that two nodes have')
    .option(
      '--force',
      'also for registered nodes: a running pod keeps its address, and another may get it too',
    )
    .action(async (addresses: readonly string[] = []) =>
      (await import('./ipam-release.js')).releaseOfCluster(command, io, addresses),
    );
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire ipam release 10.244.7.9', ''],
    ['podwire ipam release --from-report monday.json --from-report tuesday.json', ''],
    ['podwire ipam release 10.244.7.9 -o json', '{"released":[{"address","done":[…]}]}'],
  ]).addHelpText('after', '\nExit code 4: an address was not allocated, or something is left.');
}

function defineSplit(command: Command, io: Io): void {
  command
    .summary('cut a pool into equal parts')
    .description(
      'Cuts a pool into NAME-1, NAME-2, … with its settings, in one step and while it is in use: blocks and pods stay as they are. Workloads that name the pool name its parts afterwards.',
    )
    .argument('<pool>', 'its name')
    .argument('<into>', 'how many parts: 2, 4, 8, …', readCount)
    .action(async (name: string, into: number) =>
      (await import('./ipam-move.js')).splitOfCluster(command, io, name, into),
    );
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire ipam split main 4', ''],
    ['podwire ipam split main 2 -o json', '{"pools":[…]}'],
  ]);
}

function defineMigrate(command: Command, io: Io): void {
  command
    .summary("move a running cluster's pods from one pool to another")
    .description(
      'Disables the first pool, so that new pods get addresses of the second, and lists the pods that still have one of the first. Pods keep their addresses until they are recreated; no address is ever in use twice. With --wait it waits until none is left and deletes the first pool. It can be interrupted and repeated.',
    )
    .argument('<from>', 'the pool to be emptied')
    .argument('<to>', 'an enabled pool of the same network and family')
    .option('--wait', 'until nothing is left, then delete the first pool')
    .action(async (from: string, to: string) =>
      (await import('./ipam-move.js')).migrateOfCluster(command, io, from, to),
    );
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire ipam migrate old new', ''],
    ['podwire ipam migrate old new --wait', ''],
    ['podwire ipam migrate old new -o json', '{"from","to","pods":[…],"blocks":[…],"done"}'],
  ]);
}
