import type { LogicalPlaces } from '@podwire/controller';
import { compact, silentLog, systemClock } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addStore, requireCluster } from '../cluster/options.js';
import { addExamples, addOutput, optionsOf, outputOf, readPort, readSeconds } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { buildMicroflow, findEnds, isEnd, type LogicalQuestion } from '../ovn/question.js';
import type { TraceAnswer } from '../ovn/run-trace.js';
import type { Asked } from '../ovn/trace-view.js';

interface TraceOptions {
  readonly from: string;
  readonly to: string;
  readonly tcp?: number;
  readonly udp?: number;
  readonly southbound?: string;
  readonly raw?: true;
  readonly timeout: number;
}

/** Where Debian's OVN has it, unless $OVN_SB_DB names another place. */
const usualEndpoint = 'unix:/run/ovn/ovnsb_db.sock';

export function defineTrace(command: Command, io: Io): void {
  const trace = command
    .command('trace')
    .summary('the way of a packet through switches and routers, and what becomes of it')
    .description(
      'Asks ovn-trace (Debian: ovn-common) for the way of the first packet of a connection through the logical network, and explains it: each switch and router with what decides there, and the end. No packet is sent. The store knows the pods, OVN’s southbound database the flows.',
    )
    .requiredOption(
      '--from <end>',
      'the pod that sends: pod/NAMESPACE/NAME, NAMESPACE/NAME or its address',
      readEnd,
    )
    .requiredOption('--to <end>', 'the receiver: a pod, or any address', readEnd)
    .addOption(new Option('--tcp <port>', 'a connection to this port').argParser(readPort).conflicts(['udp']))
    .addOption(new Option('--udp <port>', 'a datagram to this port').argParser(readPort))
    .addOption(new Option('--icmp', 'an echo request, as ping sends it (default)').conflicts(['tcp', 'udp']))
    .option(
      '--southbound <endpoints>',
      `the database: unix:PATH, tcp:HOST:PORT ($OVN_SB_DB, or ${usualEndpoint})`,
    )
    .addOption(new Option('--raw', 'print what ovn-trace says, as it is').conflicts(['output']))
    .option('--timeout <seconds>', 'how long to wait for store and database', readSeconds, 10)
    .action(() => run(trace, io));
  addOutput(addStore(trace));
  addExamples(trace, [
    ['podwire ovn trace --from shop/web --to bank/db --tcp 80 --store etcd://10.0.0.1:2379', ''],
    ['podwire ovn trace --from shop/web --to 198.51.100.7', 'as by ping, out of the cluster'],
    ['podwire ovn trace --from shop/web --to bank/db -o json', '{"outcome":"dropped","datapaths":[…],…}'],
  ]).addHelpText('after', '\nExit code 4: the packet would be dropped.');
}

function readEnd(text: string): string {
  if (isEnd(text)) return text;
  throw new InvalidArgumentError('It must be a pod, as NAMESPACE/NAME, or an address.');
}

async function run(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as unknown as TraceOptions;
  const { asked, text, trace } = await ask(command, io, options);
  const [{ viewTrace }, { renderLogicalTrace }] = await Promise.all([
    import('../ovn/trace-view.js'),
    import('../ovn/trace-render.js'),
  ]);
  const view = viewTrace(asked, trace);
  if (view.outcome === 'dropped') io.exitCode = exitCodes.notAsItShould;
  if (options.raw === true) return writeLines(io, text.trimEnd().split('\n'));
  if (outputOf(command) === 'json') return writeJson(io, view);
  return writeLines(io, renderLogicalTrace(view, { width: widthOf(io), paint: colorsFor(io, io.stdout) }));
}

type Answer = TraceAnswer & { readonly asked: Asked };

async function ask(command: Command, io: Io, options: TraceOptions): Promise<Answer> {
  const { spec: store, root } = await requireCluster(command, io);
  const { readLogicalPlaces } = await import('@podwire/controller');
  const { withSlowProgress } = await import('../cluster/slow-progress.js');
  const clock = io.cluster?.clock ?? systemClock;
  return withInterrupt((interrupted) =>
    withSlowProgress(io, 'waiting for the store and ovn-trace', async () => {
      const signal = AbortSignal.any([interrupted, AbortSignal.timeout(options.timeout * 1_000)]);
      const places = await readLogicalPlaces({ store, root, clock, log: silentLog, signal });
      return follow(places, options, io, interrupted);
    }),
  );
}

async function follow(
  places: LogicalPlaces,
  options: TraceOptions,
  { env }: Io,
  signal: AbortSignal,
): Promise<Answer> {
  const { from, to, southbound = env['OVN_SB_DB'] || usualEndpoint, timeout } = options;
  const question = { ...findEnds(from, to, places), ...readQuestion(options) };
  const microflow = buildMicroflow(question, places);
  const { runOvnTrace } = await import('../ovn/run-trace.js');
  const answer = await runOvnTrace(microflow, { southbound, timeout: timeout * 1_000, signal });
  return { ...answer, asked: { question, microflow, places } };
}

function readQuestion({ tcp, udp }: TraceOptions): Omit<LogicalQuestion, 'from' | 'to'> {
  const protocol = tcp === undefined ? (udp === undefined ? 'icmp' : 'udp') : 'tcp';
  return { protocol, ...compact({ port: tcp ?? udp }) };
}
