import type { NodeShown } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { addStore } from '../cluster/options.js';
import { withSlowProgress } from '../cluster/slow-progress.js';
import { withStore } from '../cluster/with-store.js';
import { addEverywhere, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { confirmHarm, listNames } from '../confirm.js';
import { formatPlural } from '../render/counts.js';
import { addWatch, showView } from '../output/show.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists the nodes of a cluster with their blocks and addresses. `ready`: the agent holds its lease in the store; `unreachable`: it does not, and its pods may still work. With a name, shows all details of one node.',
    )
    .argument('[node]', 'one node')
    .action((name: string | undefined) => show(command, io, name));
  // A command with a sub-command gets neither of these by itself.
  addEverywhere(addOutput(addStore(addWatch(command)), ['text', 'wide', 'name', 'json']));
  addExamples(command, [
    ['podwire nodes --store etcd://10.0.0.1:2379', ''],
    ['podwire nodes n1', ''],
    ['podwire nodes -o json', '{"nodes":[…]}; with a name one object'],
  ]);
  defineForget(command.command('forget'), io);
}

async function show(command: Command, io: Io, name: string | undefined): Promise<void> {
  const { readCluster, showNodes } = await import('@podwire/cluster-ipam/operations');
  const read = (): Promise<readonly NodeShown[]> =>
    withStore(command, io, (access, signal) =>
      withSlowProgress(io, 'reading the cluster', async () => showNodes(await readCluster(access, signal))),
    );
  if (name !== undefined) {
    return showView<NodeShown>(command, io, {
      read: async () => requireNode(await read(), name),
      data: (node) => node,
      names: (node) => [node.name],
      lines: (node) => renderNode(node, io),
    });
  }
  return showView<readonly NodeShown[]>(command, io, {
    read,
    data: (nodes) => ({ nodes }),
    names: (nodes) => nodes.map((node) => node.name),
    notes: (nodes) => (nodes.length === 0 ? ['no nodes'] : []),
    lines: (nodes) => renderNodes(nodes, io),
    watch: { rows: (nodes) => nodes },
  });
}

async function renderNodes(nodes: readonly NodeShown[], io: Io): Promise<string[]> {
  if (nodes.length === 0) return [];
  const [{ renderTable }, { nodeTable }] = await Promise.all([
    import('../render/table.js'),
    import('../cluster/tables.js'),
  ]);
  const paint = colorsFor(io, io.stdout);
  return renderTable(nodeTable(nodes, io.now(), paint), paint, widthOf(io));
}

function requireNode(nodes: readonly NodeShown[], name: string): NodeShown {
  const node = nodes.find((each) => each.name === name);
  if (node !== undefined) return node;
  throw new PodwireError('NODE_UNKNOWN', `no node ${name} is registered, and nothing is its own`, {
    details: { node: name },
  });
}

async function renderNode(node: NodeShown, io: Io): Promise<string[]> {
  const [{ formatAge }, { paintState }] = await Promise.all([
    import('../render/times.js'),
    import('../cluster/tables.js'),
  ]);
  const paint = colorsFor(io, io.stdout);
  const since = node.since === undefined ? '' : ` for ${formatAge(io.now() - node.since)}`;
  const underlay = [node.addresses.ipv4, node.addresses.ipv6].filter((text) => text !== undefined);
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`);
  const rows: (readonly [string, string | undefined])[] = [
    ['version', node.version],
    ['instance', node.instance],
    ['addresses', underlay.length === 0 ? undefined : `${underlay.join(' ')}, MTU ${node.mtu}`],
    ['tunnel', describeTunnel(node)],
    ['AS', node.asn === undefined ? undefined : `${node.asn}`],
    ['labels', labels.length === 0 ? undefined : labels.join(' ')],
    ['blocks', node.blocks.length === 0 ? 'none' : node.blocks.join(' ')],
    ['borrowed', node.borrowed.length === 0 ? undefined : node.borrowed.join(' ')],
    ['in use', formatPlural(node.inUse, 'address')],
  ];
  return [
    `${paint.bold(`node ${printable(node.name)}`)}: ${paintState(node.state, paint)}${since}`,
    ...rows.flatMap(([key, value]) => (value === undefined ? [] : [`${key.padEnd(11)}${printable(value)}`])),
  ];
}

function describeTunnel({ tunnel }: NodeShown): string | undefined {
  if (tunnel === undefined) return undefined;
  return [tunnel.ipv4, tunnel.ipv6, tunnel.mac].filter((text) => text !== undefined).join(' ');
}

function defineForget(command: Command, io: Io): void {
  command
    .summary('release the blocks and addresses of a dead node now')
    .description(
      'Releases everything that a node held: blocks, borrowed addresses, allocation records and the node itself. The controller does the same after `vanishAfter`; use this for a node that will not come back, or whose name was imported. Refused while the agent of the node holds its lease. Pods that the node has reported may still run, and their addresses are handed out again: it asks first, or needs --yes.',
    )
    .argument('<node>', 'its name')
    .option('-y, --yes', 'also when the node has reported pods')
    .action((name: string) => forget(command, io, name));
  addOutput(addStore(command));
  addExamples(command, [
    ['podwire nodes forget n7', ''],
    ['podwire nodes forget n7 -o json', '{"node","blocks":[…],"loans":[…],"addresses"}'],
  ]);
}

async function forget(command: Command, io: Io, name: string): Promise<void> {
  const { releaseNode } = await import('@podwire/cluster-ipam/operations');
  if ((optionsOf(command) as { yes?: boolean }).yes !== true) await confirmForget(command, io, name);
  const released = await withStore(command, io, (access, signal) =>
    withSlowProgress(io, `releasing node ${name}`, () => releaseNode(access, name, {}, signal)),
  );
  if (outputOf(command) === 'json') return writeJson(io, released);
  const { blocks, loans, addresses } = released;
  const borrowed = loans.length === 0 ? '' : `, ${formatPlural(loans.length, 'borrowed address')}`;
  return writeLines(io, [
    `node ${printable(name)} is forgotten: ${formatPlural(blocks.length, 'block')} ${blocks.length === 1 ? 'is' : 'are'} free${borrowed}; ${formatPlural(addresses, 'address')} ${addresses === 1 ? 'was' : 'were'} allocated`,
  ]);
}

/** A node that is up is refused later, and says so. */
async function confirmForget(command: Command, io: Io, name: string): Promise<void> {
  const { podsOfNode, readCluster } = await import('@podwire/cluster-ipam/operations');
  const snapshot = await withStore(command, io, readCluster);
  const pods = podsOfNode(snapshot, name);
  if (pods.length === 0 || snapshot.nodeLeases.has(name)) return;
  const count = formatPlural(pods.length, 'pod');
  const message = `node ${name} has reported ${count} (${listNames(pods)}), which may still run: their addresses would be given to others`;
  await confirmHarm(command, io, { message: printable(message), action: '`--yes` does it all the same.' });
}
