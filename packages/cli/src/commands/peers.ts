import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { PeersView, PeerStatusView } from '../api/shapes.js';
import type { Column, TableOptions } from '../render/table.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, exitCodes, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command
    .description('Lists the other nodes of the cluster and the path to each.')
    .option('--problems', 'only those with problems')
    .action(() => show(command, io));
  addOutput(addAgent(command), ['text', 'wide', 'json']);
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
  const { peers } = await api.get<PeersView>('/v1/peers');
  const wanted = problems ? peers.filter((peer) => peer.problems.length > 0) : peers;
  if (problems && wanted.length > 0) io.exitCode = exitCodes.notAsItShould;
  const format = outputOf(command);
  if (format === 'json') return writeJson(io, { peers: wanted });
  if (wanted.length === 0) return void io.stderr.write(problems ? 'no problems\n' : 'no other nodes\n');
  const { renderTable } = await import('../render/table.js');
  const paint = colorsFor(io, io.stdout);
  return writeLines(io, [
    ...renderTable(peerTable(wanted, format === 'wide'), paint, widthOf(io)),
    ...wanted.flatMap(({ name, problems: list }) =>
      list.map((text) => `${paint.red('problem')}  ${printable(name)}: ${printable(text)}`),
    ),
  ]);
}

function peerTable(peers: readonly PeerStatusView[], wide: boolean): TableOptions {
  const rows = peers.map(({ name, ipv4, ipv6, blocks, mtu, problems }) => [
    printable(name),
    [ipv4, ipv6].filter((address) => address !== undefined).join(' '),
    mtu === undefined ? '' : `${mtu}`,
    wide ? blocks.join(' ') : `${blocks.length}`,
    problems.length === 0 ? '' : `${problems.length}`,
  ]);
  const head: Column[] = [
    { title: 'NODE' },
    { title: 'ADDRESSES', cut: 'list', least: 15, importance: 5 },
    { title: 'MTU', right: true, importance: 2 },
    { title: 'BLOCKS', right: !wide, importance: 4 },
    { title: 'PROBLEMS', right: !wide, importance: 6 },
  ];
  return { head, rows };
}
