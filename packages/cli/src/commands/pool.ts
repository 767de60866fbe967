import type { ClusterAccess, PoolInput, PoolPatch, PoolShown } from '@podwire/cluster-ipam/operations';
import type { Pool } from '@podwire/cluster-state';
import { encapsulations } from '@podwire/network-contract';
import { suggestWord } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given, isOn, type Limit, onOff, readCount, readLimit, readList } from '../cluster/arguments.js';
import { addStore } from '../cluster/options.js';
import { withSlowProgress } from '../cluster/slow-progress.js';
import { withNewStore, withStore } from '../cluster/with-store.js';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';
import { formatCount, formatPlural } from '../render/counts.js';
import { startProgress } from '../render/progress.js';

export function define(command: Command, io: Io): void {
  command.description('Pools of addresses that the nodes of a cluster share.');
  defineList(command.command('list'), io);
  defineShow(command.command('show'), io);
  defineCreate(command.command('create'), io);
  defineSet(command.command('set'), io);
  defineDelete(command.command('delete'), io);
}

function defineList(command: Command, io: Io): void {
  command
    .summary('all pools with their numbers')
    .description('Lists the pools: blocks of nodes, addresses in use and free.')
    .action(() => list(command, io));
  addOutput(addStore(command), ['text', 'wide', 'name', 'json']);
  addExamples(command, [
    ['podwire pool list --store etcd://10.0.0.1:2379', ''],
    ['podwire pool list -o json', '{"pools":[…]}'],
  ]);
}

async function list(command: Command, io: Io): Promise<void> {
  const { readCluster, showCluster } = await import('@podwire/cluster-ipam/operations');
  const { pools } = await withStore(command, io, (access, signal) =>
    withSlowProgress(io, 'reading the cluster', async () => showCluster(await readCluster(access, signal))),
  );
  const format = outputOf(command);
  if (format === 'json') return writeJson(io, { pools });
  if (format === 'name') return void pools.forEach(({ name }) => io.stdout.write(`${name}\n`));
  if (pools.length === 0)
    return void io.stderr.write('no pools: `podwire pool create NAME CIDR` makes one\n');
  const [{ renderTable }, { poolTable }] = await loadTables();
  return writeLines(io, renderTable(poolTable(pools), colorsFor(io, io.stdout), widthOf(io)));
}

const loadTables = () => Promise.all([import('../render/table.js'), import('../cluster/tables.js')]);

function defineShow(command: Command, io: Io): void {
  command
    .summary('one pool with its settings and blocks')
    .description('Shows the settings of a pool, its usage, and the node of each block.')
    .argument('<pool>', 'its name')
    .action((name: string) => show(command, io, name));
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire pool show main', ''],
    ['podwire pool show main -o json', 'a pool as in `pool list`'],
  ]);
}

async function show(command: Command, io: Io, name: string): Promise<void> {
  const { readCluster, requirePool, showPool } = await import('@podwire/cluster-ipam/operations');
  const pool = await withStore(command, io, async (access, signal) => {
    const snapshot = await readCluster(access, signal);
    return showPool(snapshot, requirePool(snapshot.pools, name).value);
  });
  if (outputOf(command) === 'json') return writeJson(io, pool);
  const [{ renderTable }, { blockTable, stateOfPool }] = await loadTables();
  const paint = colorsFor(io, io.stdout);
  const blocks =
    pool.blocks.length === 0 ? [] : ['', ...renderTable(blockTable(pool.blocks), paint, widthOf(io))];
  return writeLines(io, [...describe(pool, stateOfPool(pool)), ...blocks]);
}

function describe(pool: PoolShown, state: string): string[] {
  const { name, network, cidr, blockSize, ...rest } = pool.configuration;
  return [
    `pool ${printable(name)}: ${cidr} of network ${printable(network)}, ${state}`,
    `addresses      ${formatCount(pool.total)}: ${pool.inUse} in use, ${formatCount(pool.reserved)} reserved, ${formatCount(pool.free)} free, ${pool.lent} lent to other nodes`,
    `blocks         /${blockSize}, ${pool.blocks.length} with nodes${rest.maxBlocksPerNode === undefined ? '' : `, ${rest.maxBlocksPerNode} for a node at most`}`,
    `encapsulation  ${rest.encapsulation}`,
    `NAT outgoing   ${rest.natOutgoing ? 'on' : 'off'}`,
    `assignment     ${rest.assignment}, allocation ${rest.allocation}, borrowing ${rest.borrowing ? 'on' : 'off'}`,
    ...(rest.nodeSelector === '' ? [] : [`nodes          ${printable(rest.nodeSelector)}`]),
    ...(rest.reserved.length === 0 ? [] : [`reserved       ${rest.reserved.join(' ')}`]),
  ];
}

interface Settings {
  readonly natOutgoing?: string;
  readonly encapsulation?: PoolInput['encapsulation'];
  readonly reserved?: readonly string[];
  readonly nodeSelector?: string;
  readonly assignment?: PoolInput['assignment'];
  readonly borrowing?: string;
  readonly maxBlocksPerNode?: Limit;
}

/** Known names are offered; a name that is like none of them may be one of the network's model. */
function encapsulationOption(): Option {
  const option = new Option('--encapsulation <how>', 'how packets reach other nodes').choices(encapsulations);
  return option.argParser((name) => {
    const near = suggestWord(name, encapsulations);
    if (near !== undefined && near !== name) throw new InvalidArgumentError(`did you mean ${near}?`);
    return name;
  });
}

/** Adds the settings that can be given when a pool is made, and changed later. */
function addSettings(command: Command): Command {
  return command
    .addOption(encapsulationOption())
    .addOption(
      new Option('--nat-outgoing <word>', "traffic that leaves all pools carries the node's address").choices(
        onOff,
      ),
    )
    .option(
      '--reserved <list>',
      'prefixes and addresses that are never handed out, a,b,…; empty: none',
      readList,
    )
    .option('--node-selector <selector>', 'only nodes with these labels: zone in (a,b),disk=ssd; empty: all')
    .addOption(
      new Option('--assignment <who>', 'for all pods, or only for pods that request it').choices([
        'automatic',
        'manual',
      ]),
    )
    .addOption(
      new Option('--borrowing <word>', 'whether other nodes may borrow single addresses').choices(onOff),
    )
    .option('--max-blocks-per-node <count>', 'limit of each node; none: no limit', readLimit);
}

const readSettings = ({ natOutgoing, borrowing, reserved, ...rest }: Settings) =>
  given({
    natOutgoing: isOn(natOutgoing),
    borrowing: isOn(borrowing),
    reserved: reserved === undefined ? undefined : [...reserved],
    encapsulation: rest.encapsulation,
    nodeSelector: rest.nodeSelector,
    assignment: rest.assignment,
    maxBlocksPerNode: rest.maxBlocksPerNode === 'none' ? null : rest.maxBlocksPerNode,
  });

function defineCreate(command: Command, io: Io): void {
  command
    .summary('create a pool')
    .description('Creates a pool. Nodes claim blocks of it at once.')
    .argument('<pool>', 'its name')
    .argument('<cidr>', 'ADDRESS/LENGTH; no other pool may have an address of it')
    .option(
      '--network <name>',
      "the network of the agents' configuration whose pods get its addresses",
      'default',
    )
    .option('--block-size <length>', 'prefix length of its blocks; 26, or 122 for IPv6', readCount)
    .addOption(
      new Option(
        '--allocation <how>',
        'blocks on demand, or one for each node for its lifetime (its podCIDR)',
      ).choices(['blocks', 'node-cidr']),
    )
    .option('--disabled', 'no pod gets an address of it yet')
    .action((name: string, cidr: string) => create(command, io, name, cidr));
  addOutput(addStore(addSettings(command)));
  addExamples(command, [
    ['podwire pool create main 10.244.0.0/16', ''],
    ['podwire pool create main6 fd00:10:244::/64 --encapsulation direct', ''],
    ['podwire pool create ssd 10.60.0.0/20 --node-selector disk=ssd --assignment manual', ''],
  ]);
}

async function create(command: Command, io: Io, name: string, cidr: string): Promise<void> {
  const options = optionsOf(command) as unknown as Settings & {
    network: string;
    blockSize?: number;
    allocation?: PoolInput['allocation'];
    disabled?: boolean;
  };
  const { createPool } = await import('@podwire/cluster-ipam/operations');
  const { maxBlocksPerNode, ...settings } = readSettings(options);
  const { network, blockSize, allocation, disabled } = options;
  const input: PoolInput = {
    name,
    network,
    cidr,
    ...settings,
    ...given({ blockSize, allocation, disabled, maxBlocksPerNode: maxBlocksPerNode ?? undefined }),
  };
  const [pool, warnings] = await withNewStore(command, io, async (access, signal) => {
    const created = await createPool(access, input, signal);
    return [created, await warnOfMixture(access, created, signal)] as const;
  });
  if (outputOf(command) === 'json') return writeJson(io, { ...pool, warnings });
  showWarnings(io, warnings);
  return writeLines(io, [`pool ${name}: ${pool.cidr}, blocks of /${pool.blockSize}, ${pool.encapsulation}`]);
}

function defineSet(command: Command, io: Io): void {
  command
    .summary('change a pool')
    .description(
      'Changes settings of a pool; others stay. Running pods keep their addresses. Its CIDR and the size of its blocks cannot be changed: `podwire ipam split` and `podwire ipam migrate` do that.',
    )
    .argument('<pool>', 'its name')
    .addOption(new Option('--disable', 'no new addresses of it; what is in use stays').conflicts('enable'))
    .option('--enable', 'addresses of it are handed out again')
    .action((name: string) => set(command, io, name));
  addOutput(addStore(addSettings(command)));
  addExamples(command, [
    ['podwire pool set main --disable', ''],
    ['podwire pool set main --reserved 10.244.0.0/28,10.244.0.77', ''],
    ['podwire pool set main --encapsulation vxlan --max-blocks-per-node 20', ''],
  ]);
}

async function set(command: Command, io: Io, name: string): Promise<void> {
  const options = optionsOf(command) as Settings & { disable?: boolean; enable?: boolean };
  const disabled = options.disable === true ? true : options.enable === true ? false : undefined;
  const patch: PoolPatch = { ...readSettings(options), ...given({ disabled }) };
  if (Object.keys(patch).length === 0) {
    return command.error('error: nothing to change: give at least one setting', { exitCode: 2 });
  }
  const { updatePool } = await import('@podwire/cluster-ipam/operations');
  const [pool, warnings] = await withStore(command, io, async (access, signal) => {
    const updated = await updatePool(access, name, patch, signal);
    const isMixed = patch.encapsulation !== undefined;
    return [updated, isMixed ? await warnOfMixture(access, updated, signal) : []] as const;
  });
  if (outputOf(command) === 'json') return writeJson(io, { ...pool, warnings });
  showWarnings(io, warnings);
  const changes = Object.keys(patch).map((field) => describeSetting(pool, field as keyof PoolPatch));
  return writeLines(io, [`pool ${printable(name)}: ${changes.join(', ')}`]);
}

async function warnOfMixture(access: ClusterAccess, pool: Pool, signal: AbortSignal): Promise<string[]> {
  const { describeMixture, readCluster } = await import('@podwire/cluster-ipam/operations');
  const { pools } = await readCluster(access, signal);
  const mixture = describeMixture(
    [...pools.values()].map(({ value }) => value),
    pool,
  );
  return mixture === undefined ? [] : [mixture];
}

function showWarnings(io: Io, warnings: readonly string[]): void {
  const paint = colorsFor(io, io.stderr);
  for (const warning of warnings) io.stderr.write(`${paint.yellow('warning:')} ${printable(warning)}\n`);
}

/** In the words of the options: `max-blocks-per-node 2`. */
function describeSetting(pool: Pool, field: keyof PoolPatch): string {
  if (field === 'disabled') return pool.disabled ? 'disabled' : 'enabled';
  const value = pool[field];
  const option = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (typeof value === 'boolean') return `${option} ${value ? 'on' : 'off'}`;
  const text = Array.isArray(value) ? value.join(',') : `${value ?? ''}`;
  return `${option} ${text === '' ? 'none' : text}`;
}

function defineDelete(command: Command, io: Io): void {
  command
    .summary('delete an unused pool')
    .description(
      'Deletes a pool when no node has a block of it. With --wait no new address of it is handed out, and it is deleted with its last pod.',
    )
    .argument('<pool>', 'its name')
    .option('--wait', 'until nothing of it is in use')
    .action((name: string) => remove(command, io, name));
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire pool delete old', 'names nodes and pods when it is in use'],
    ['podwire pool delete old --wait', ''],
  ]);
}

async function remove(command: Command, io: Io, name: string): Promise<void> {
  const { wait } = optionsOf(command) as { wait?: boolean };
  const { deletePool } = await import('@podwire/cluster-ipam/operations');
  const progress = startProgress(io);
  const tell = ({ blocks, pods }: { blocks: readonly string[]; pods: readonly string[] }): void =>
    progress.show(
      `waiting for pool ${name}`,
      `${formatPlural(pods.length, 'pod')}, ${formatPlural(blocks.length, 'block')}`,
    );
  try {
    const options = wait === true ? { wait: tell } : {};
    await withStore(command, io, (access, signal) => deletePool(access, name, options, signal));
  } finally {
    progress.end();
  }
  if (outputOf(command) === 'json') return writeJson(io, { deleted: name });
  return writeLines(io, [`pool ${printable(name)} is deleted`]);
}
