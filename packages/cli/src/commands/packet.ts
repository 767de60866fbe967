import net from 'node:net';
import { highestVnid } from '@podwire/objects/vnid';
import { compact } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addStore } from '../cluster/options.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf, readPort, readSeconds } from '../command.js';
import { createRunDirOption } from '../flows/run-dir.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { findEnd, isPodName, noNames } from '../packet/names.js';
import type { Question } from '../packet/question.js';
import type { Switches, Walk } from '../packet/walk.js';

interface TraceOptions {
  readonly from: string;
  readonly to: string;
  readonly tcp?: number;
  readonly udp?: number;
  readonly inPort?: string;
  readonly tunnelFrom?: string;
  readonly vnid?: number;
  readonly bridge: string;
  readonly runDir: string;
  readonly target?: string;
  readonly testbed?: string;
  readonly timeout: number;
}

export function define(command: Command, io: Io): void {
  command.description('Follows a packet through the tables of bridges of Open vSwitch.');
  const trace = command
    .command('trace')
    .summary('the flows that a packet would match, and what would become of it')
    .description(
      'Asks ovs-vswitchd for the way of a packet from a pod of this node, and explains it: each table with its purpose, the flow that decides there, whose it is, and the end. In a testbed the way goes on at the switch of the other node. No packet is sent. Between addresses neither agent nor store is needed; they know names of pods, nodes and projects.',
    )
    .requiredOption(
      '--from <end>',
      'the pod that sends: pod/NAMESPACE/NAME, pod/NAME, NAMESPACE/NAME or an IPv4 address',
      readEnd,
    )
    .requiredOption(
      '--to <end>',
      'the receiver: the same, or any IPv4 address, of a service for example',
      readEnd,
    )
    .addOption(new Option('--tcp <port>', 'a connection to this port').argParser(readPort).conflicts(['udp']))
    .addOption(new Option('--udp <port>', 'a datagram to this port').argParser(readPort))
    .addOption(new Option('--icmp', 'an echo request, as ping sends it (default)').conflicts(['tcp', 'udp']))
    .option(
      '--in-port <port>',
      'where the packet comes from, by name or number, in place of the port of the sender',
    )
    .addOption(
      new Option(
        '--tunnel-from <address>',
        'the packet comes through the tunnel, from the node of this address',
      )
        .argParser(readIpv4)
        .conflicts(['inPort']),
    )
    .addOption(
      new Option('--vnid <number>', 'with --tunnel-from, the VNID of the sender').argParser(readVnid),
    )
    .option('--bridge <name>', 'the bridge', 'br0')
    .addOption(createRunDirOption(io))
    .option('--target <socket>', 'the control socket of ovs-vswitchd, where no file there has its process id')
    .addOption(
      new Option(
        '--testbed <name>',
        'ask the switches of all nodes of this testbed; $PODWIRE_TESTBED when absent, unless --run-dir or --target names a switch',
      ).conflicts(['runDir', 'target']),
    )
    .option('--timeout <seconds>', 'how long to wait for each answer', readSeconds, 10)
    .action(() => show(trace, io));
  addStore(addAgent(addOutput(trace)), false);
  addExamples(trace, [
    ['podwire packet trace --from shop/web --to bank/db --tcp 80', 'needs root'],
    ['podwire packet trace --from 10.1.0.3 --to 198.51.100.7', 'as by ping, out of the cluster'],
    ['podwire packet trace --from 10.1.0.9 --in-port 3 --to 10.1.0.4', 'a forged sender'],
    [
      'podwire packet trace --from 10.1.0.3 --to 10.2.0.4 --tunnel-from 192.0.2.1 --vnid 7',
      'on the node of the receiver',
    ],
    ['podwire packet trace --from shop/web --to bank/db -o json', '{"outcome":"dropped","hops":[…],…}'],
  ]).addHelpText('after', '\nExit code 4: the packet would be dropped.');
}

function readEnd(text: string): string {
  if (net.isIPv4(text) || isPodName(text)) return text;
  throw new InvalidArgumentError('It must be a pod, as NAMESPACE/NAME, or an IPv4 address.');
}

function readIpv4(text: string): string {
  if (net.isIPv4(text)) return text;
  throw new InvalidArgumentError('It must be an IPv4 address.');
}

function readVnid(text: string): number {
  const vnid = /^\d{1,8}$/.test(text) ? Number(text) : NaN;
  if (vnid <= highestVnid) return vnid;
  throw new InvalidArgumentError(`VNIDs are numbers from 0 to ${highestVnid}.`);
}

async function show(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as unknown as TraceOptions;
  if ((options.tunnelFrom === undefined) !== (options.vnid === undefined))
    command.error('error: --tunnel-from and --vnid belong together', { exitCode: exitCodes.usage });
  const { viewWalk } = await import('../packet/view.js');
  const switches = await locate(command, io, options);
  const [from, to] = [findEnd(options.from, switches.names), findEnd(options.to, switches.names)];
  const question = { from, to, ...readQuestion(options) };
  const view = viewWalk(question, await follow(question, switches, options, io));
  if (view.outcome === 'dropped') io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderPacket } = await import('../packet/render.js');
  return writeLines(io, renderPacket(view, { width: widthOf(io), paint: colorsFor(io, io.stdout) }));
}

/** Between addresses neither store nor agent is asked. */
async function locate(command: Command, io: Io, { from, to, ...options }: TraceOptions): Promise<Switches> {
  const isOwn = options.target !== undefined || command.getOptionValueSource('runDir') !== 'default';
  const testbed = options.testbed ?? (isOwn ? undefined : io.env['PODWIRE_TESTBED'] || undefined);
  if (testbed !== undefined) {
    const { findTestbedSwitches } = await import('../packet/testbed-switches.js');
    return findTestbedSwitches(io, testbed, options.bridge);
  }
  const findSwitch = () => undefined;
  if (net.isIPv4(from) && net.isIPv4(to)) return { names: noNames, findSwitch };
  const { readNames } = await import('../packet/read-names.js');
  return { names: await readNames(command, io), findSwitch };
}

async function follow(question: Question, switches: Switches, options: TraceOptions, io: Io): Promise<Walk> {
  const [{ followPacket }, { withSlowProgress }] = await Promise.all([
    import('../packet/walk.js'),
    import('../cluster/slow-progress.js'),
  ]);
  const { bridge, runDir, target, timeout, inPort } = options;
  const own = { bridge, runDir, target };
  const home = question.tunnel === undefined ? question.from : question.to;
  // A sender that is forged is on this node, though another one may have the pod with its address.
  const first = (inPort === undefined ? switches.findSwitch(home.node) : undefined) ?? own;
  return withInterrupt((signal) =>
    withSlowProgress(io, `waiting for bridge ${bridge}`, () =>
      followPacket(question, first, { ...switches, inPort, signal, timeout }),
    ),
  );
}

function readQuestion({ tcp, udp, tunnelFrom, vnid = 0 }: TraceOptions): Omit<Question, 'from' | 'to'> {
  const protocol = tcp === undefined ? (udp === undefined ? 'icmp' : 'udp') : 'tcp';
  const tunnel = tunnelFrom === undefined ? undefined : { source: tunnelFrom, vnid };
  return { protocol, ...compact({ port: tcp ?? udp, tunnel }) };
}
