import net from 'node:net';
import { compact } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import { createRunDirOption } from '../flows/run-dir.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import type { Question } from '../packet/question.js';

interface TraceOptions {
  readonly from: string;
  readonly to: string;
  readonly tcp?: number;
  readonly udp?: number;
  readonly inPort?: string;
  readonly bridge: string;
  readonly runDir: string;
  readonly target?: string;
  readonly timeout: number;
}

export function define(command: Command, io: Io): void {
  command.description('Follows a packet through the tables of a bridge of Open vSwitch.');
  const trace = command
    .command('trace')
    .summary('the flows that a packet would match, and what would become of it')
    .description(
      'Asks ovs-vswitchd for the way of a packet from a pod of this node, and explains it: each table with its purpose, the flow that decides there, whose it is, and the end. No packet is sent, and no agent is needed.',
    )
    .requiredOption('--from <address>', 'the pod that sends', readIpv4)
    .requiredOption('--to <address>', 'the receiver, in the cluster or not', readIpv4)
    .addOption(new Option('--tcp <port>', 'a connection to this port').argParser(readPort).conflicts(['udp']))
    .addOption(new Option('--udp <port>', 'a datagram to this port').argParser(readPort))
    .addOption(new Option('--icmp', 'an echo request, as ping sends it (default)').conflicts(['tcp', 'udp']))
    .option(
      '--in-port <port>',
      'where the packet comes from, by name or number, in place of the port of the sender',
    )
    .option('--bridge <name>', 'the bridge', 'br0')
    .addOption(createRunDirOption(io))
    .option('--target <socket>', 'the control socket of ovs-vswitchd, where no file there has its process id')
    .option('--timeout <seconds>', 'how long to wait for each answer', readSeconds, 10)
    .action(() => show(trace, io));
  addOutput(trace);
  addExamples(trace, [
    ['podwire packet trace --from 10.1.0.3 --to 10.1.0.4 --tcp 80', 'needs root'],
    ['podwire packet trace --from 10.1.0.3 --to 198.51.100.7', 'as by ping'],
    ['podwire packet trace --from 10.1.0.9 --in-port 3 --to 10.1.0.4', 'a forged sender'],
    ['podwire packet trace --from 10.1.0.3 --to 10.1.0.4 -o json', '{"steps":[…],…}'],
  ]).addHelpText('after', '\nExit code 4: the packet would be dropped.');
}

function readIpv4(text: string): string {
  if (net.isIPv4(text)) return text;
  throw new InvalidArgumentError('It must be an IPv4 address.');
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('Ports are numbers from 1 to 65535.');
}

async function show(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as unknown as TraceOptions;
  const { viewPacket } = await import('../packet/view.js');
  const { traced, trace, dump } = await withInterrupt((signal) => ask(options, io, signal));
  const view = viewPacket(traced, trace, dump);
  if (view.outputs.length === 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderPacket } = await import('../packet/render.js');
  return writeLines(io, renderPacket(view, { width: widthOf(io), paint: colorsFor(io, io.stdout) }));
}

async function ask(options: TraceOptions, io: Io, signal: AbortSignal) {
  const { bridge, runDir, target, timeout } = options;
  const [{ readBridge }, { findInPort, formatPacket }, { tracePacket }, { withSlowProgress }] =
    await Promise.all([
      import('../flows/read.js'),
      import('../packet/question.js'),
      import('../packet/read.js'),
      import('../cluster/slow-progress.js'),
    ]);
  return withSlowProgress(io, `waiting for bridge ${bridge}`, async () => {
    const dump = await readBridge({ bridge, runDir }, { signal, timeout });
    const question = readQuestion(options);
    const inPort = findInPort(question.from, bridge, dump, options.inPort);
    const packet = formatPacket(question, inPort);
    const trace = await tracePacket({ bridge, runDir, target }, packet, { signal, timeout });
    return { traced: { bridge, inPort, ...question }, trace, dump };
  });
}

function readQuestion({ from, to, tcp, udp }: TraceOptions): Question {
  const protocol = tcp === undefined ? (udp === undefined ? 'icmp' : 'udp') : 'tcp';
  return { from, to, protocol, ...compact({ port: tcp ?? udp }) };
}
