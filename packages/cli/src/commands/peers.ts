import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { PeersView, PeerStatusView } from '../api/shapes.js';
import type { Column, TableOptions } from '../render/table.js';
import { addAgent, addExamples, addOutput, optionsOf } from '../command.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, widthOf } from '../io.js';
import { formatAge } from '../render/times.js';
import { addWatch, showView } from '../output/show.js';

export function define(command: Command, io: Io): void {
  command
    .description('Lists the other nodes of the cluster and the path to each.')
    .option('--problems', 'only those that are unreachable or have problems')
    .action(() => show(command, io));
  addOutput(addAgent(addWatch(command)), ['text', 'wide', 'name', 'json']);
  addExamples(command, [
    ['podwire peers', ''],
    ['podwire peers --problems', 'exit code 4 when there are any'],
    ['podwire peers -o wide', 'with every block'],
    ['podwire peers -o json', '{"peers":[…]}'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const { problems = false } = optionsOf(command) as { problems?: boolean };
  const api = await openLocatedApi(command, io);
  return showView<readonly PeerStatusView[]>(command, io, {
    read: async () => {
      const { peers } = await api.get<PeersView>('/v1/peers');
      return problems ? peers.filter(hasProblem) : peers;
    },
    data: (peers) => ({ peers }),
    names: (peers) => peers.map(({ name }) => name),
    evaluate: (peers) => {
      if (problems && peers.length > 0) io.exitCode = exitCodes.notAsItShould;
    },
    notes: (peers) => (peers.length > 0 ? [] : [problems ? 'no problems' : 'no other nodes']),
    lines: (peers) => renderPeers(peers, io),
    watch: { rows: (peers) => peers },
  });
}

const hasProblem = ({ problems, reachable }: PeerStatusView): boolean =>
  problems.length > 0 || reachable === false;

async function renderPeers(peers: readonly PeerStatusView[], io: Io): Promise<string[]> {
  if (peers.length === 0) return [];
  const [{ renderTable }, { wrapText }] = await Promise.all([
    import('../render/table.js'),
    import('../render/text.js'),
  ]);
  const paint = colorsFor(io, io.stdout);
  const width = widthOf(io);
  return [
    ...renderTable(peerTable(peers, { wide: io.format === 'wide', now: io.now(), paint }), paint, width),
    ...peers.flatMap(({ name, problems }) =>
      problems.flatMap((text) =>
        wrapText(`${paint.red('problem')}  ${printable(name)}: ${printable(text)}`, width, 9),
      ),
    ),
  ];
}

export interface PeerTableOptions {
  /** Every block instead of their number. */
  readonly wide: boolean;
  readonly now: number;
  readonly paint: Colors;
}

export function peerTable(
  peers: readonly PeerStatusView[],
  { wide, now, paint }: PeerTableOptions,
): TableOptions {
  const rows = peers.map(({ name, ipv4, ipv6, blocks, mtu, problems, ...reachability }) => [
    printable(name),
    describeReachability(reachability, now, paint),
    [ipv4, ipv6].filter((address) => address !== undefined).join(' '),
    mtu === undefined ? '' : `${mtu}`,
    wide ? blocks.join(' ') : `${blocks.length}`,
    problems.length === 0 ? '' : `${problems.length}`,
  ]);
  const head: Column[] = [
    { title: 'NODE' },
    { title: 'STATE', cut: 'never', importance: Infinity },
    { title: 'ADDRESSES', cut: 'list', least: 15, importance: 5 },
    { title: 'MTU', right: true, importance: 2 },
    { title: 'BLOCKS', right: !wide, importance: 4 },
    { title: 'PROBLEMS', right: !wide, importance: 6 },
  ];
  return { head, rows };
}

/** An agent of an earlier version does not tell. */
function describeReachability(
  { reachable, unreachableSince }: Pick<PeerStatusView, 'reachable' | 'unreachableSince'>,
  now: number,
  paint: Colors,
): string {
  if (reachable === true) return paint.green('ready');
  if (reachable !== false || unreachableSince === null) return paint.yellow('unknown');
  return paint.red(`unreachable ${formatAge(now - Date.parse(unreachableSince))}`);
}
