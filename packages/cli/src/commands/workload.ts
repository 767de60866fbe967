import type { WorkloadInput } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type Command, Option } from 'commander';
import { given, isOn, onOff, readList } from '../cluster/arguments.js';
import { addStore } from '../cluster/options.js';
import { withNewStore, withStore } from '../cluster/with-store.js';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, widthOf, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command.description('Static addresses, pools and sticky addresses for the pods of a workload.');
  defineList(command.command('list'), io);
  defineSet(command.command('set'), io);
  defineDelete(command.command('delete'), io);
}

const nameHelp = '[NAMESPACE/]NAME of a pod, or the beginning of names: prod/web-*';

function addNetwork(command: Command): Command {
  return command.option('--network <name>', "the network of the agents' configuration", 'default');
}

function defineList(command: Command, io: Io): void {
  command
    .summary('all workloads and the addresses of their pods')
    .description('Lists the workloads with addresses or pools of their own, and the addresses of their pods.')
    .action(() => list(command, io));
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire workload list', ''],
    ['podwire workload list -o json', '{"workloads":[…]}'],
  ]);
}

async function list(command: Command, io: Io): Promise<void> {
  const { readCluster } = await import('@podwire/cluster-ipam/operations');
  const snapshot = await withStore(command, io, readCluster);
  const workloads = snapshot.workloads.map(({ value }) => value);
  if (outputOf(command) === 'json') return writeJson(io, { workloads });
  if (workloads.length === 0) return void io.stderr.write('no workloads\n');
  const [{ renderTable }, { workloadTable }] = await Promise.all([
    import('../render/table.js'),
    import('../cluster/tables.js'),
  ]);
  return writeLines(io, renderTable(workloadTable(workloads), colorsFor(io, io.stdout), widthOf(io)));
}

function defineSet(command: Command, io: Io): void {
  command
    .summary('create or change one')
    .description(
      'Sets which addresses or pools the pods of a workload get; other settings stay. An address is given to one pod at a time, on any node. Running pods keep their addresses until they are recreated.',
    )
    .argument('<workload>', nameHelp)
    .option('--address <list>', 'addresses of pools, a,b,…; empty: none', readList)
    .option('--pool <list>', 'only these pools, a,b,…; empty: any', readList)
    .addOption(
      new Option('--sticky <word>', 'a recreated pod of the same name keeps its address').choices(onOff),
    )
    .option('-f, --force', 'also with an address that another pod has now: pods of the workload wait for it')
    .action((name: string) => set(command, io, name));
  addOutput(addStore(addNetwork(command)));
  addExamples(command, [
    ['podwire workload set prod/db-0 --address 10.244.7.10', ''],
    ["podwire workload set 'prod/web-*' --pool frontend --sticky on", ''],
    ["podwire workload set 'prod/web-*' --pool ''", 'any pool again'],
  ]);
}

async function set(command: Command, io: Io, text: string): Promise<void> {
  const { network, address, pool, sticky, force } = optionsOf(command) as {
    network: string;
    address?: readonly string[];
    pool?: readonly string[];
    sticky?: string;
    force?: boolean;
  };
  const { nameOfWorkload, parseWorkloadName, setWorkload } = await import('@podwire/cluster-ipam/operations');
  const input: WorkloadInput = {
    ...parseWorkloadName(text, network),
    ...given({
      addresses: address === undefined ? undefined : [...address],
      pools: pool === undefined ? undefined : [...pool],
      sticky: isOn(sticky),
    }),
  };
  const workload = await withNewStore(command, io, (access, signal) =>
    setWorkload(access, input, signal, compact({ force })),
  );
  if (outputOf(command) === 'json') return writeJson(io, workload);
  const what = [
    ...(workload.addresses.length === 0 ? [] : [`addresses ${workload.addresses.join(' ')}`]),
    ...(workload.pools.length === 0 ? [] : [`pools ${workload.pools.join(' ')}`]),
    workload.sticky ? 'sticky' : 'not sticky',
  ];
  return writeLines(io, [`workload ${nameOfWorkload(workload)}: ${what.join(', ')}`]);
}

function defineDelete(command: Command, io: Io): void {
  command
    .summary('delete one; its pods keep their addresses')
    .description('Deletes a workload. Its running pods keep their addresses until they are recreated.')
    .argument('<workload>', nameHelp)
    .action((name: string) => remove(command, io, name));
  addOutput(addStore(addNetwork(command)));
  addExamples(command, [["podwire workload delete 'prod/web-*'", '']]);
}

async function remove(command: Command, io: Io, text: string): Promise<void> {
  const { network } = optionsOf(command) as { network: string };
  const { deleteWorkload, nameOfWorkload, parseWorkloadName } =
    await import('@podwire/cluster-ipam/operations');
  const name = parseWorkloadName(text, network);
  const existed = await withStore(command, io, (access, signal) => deleteWorkload(access, name, signal));
  if (!existed) throw new PodwireError('REQUEST_INVALID', `no workload ${nameOfWorkload(name)}`);
  if (outputOf(command) === 'json') return writeJson(io, { deleted: nameOfWorkload(name) });
  return writeLines(io, [`workload ${nameOfWorkload(name)} is deleted`]);
}
