import { type Command, InvalidArgumentError } from 'commander';
import type { AllocationRecord } from '@podwire/cluster-state';
import type { ConnectivityReport, ProbeOptions } from '@podwire/testbed';
import { type ClusterPlace, addStore } from '../cluster/options.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { chooseTestbed } from '../testbed/choose.js';
import { besideSocket, saveReport } from '../testbed/last-report.js';

export function define(command: Command, io: Io): void {
  command.description('Tests whether pods reach each other.');
  const test = command
    .command('test')
    .summary('send packets between all pods and nodes of a testbed')
    .description(
      'Sends packets between all pods and nodes of a testbed, and to the outside: several TCP packets each way, and one full-size datagram with DF. A probe succeeds only if the right participant answers and sees the right source: the pod’s own address, and its node’s outside. Unused addresses must not answer. What policy denies must not be answered, and what it allows must be: each difference names the rule. With --node it probes other nodes and their pods from this node, by ICMP.',
    )
    .option('--testbed <name>', 'the testbed; by default the only one')
    .option('--node', 'instead, from the pods of this node to each other, to other nodes and to their pods')
    .option('--deadline <milliseconds>', 'how long to wait for an answer', readDeadline, 1_500)
    .action(() => run(test, io));
  addStore(addAgent(addOutput(test, ['text', 'wide', 'json'])), false);
  addExamples(test, [
    ['podwire testbed up', 'first'],
    ['podwire connectivity test', ''],
    ['podwire connectivity test --node --config /etc/podwire/agent.yaml', 'on a node of a real cluster'],
    ['podwire connectivity test -o json', '{"ok":true,"parties":[…],"results":[…],…}'],
  ]).addHelpText('after', '\nExit code 4: an answer was not the expected one, or policy does not hold.');
}

function readDeadline(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 10 && value <= 60_000) return value;
  throw new InvalidArgumentError('It must be a number of milliseconds from 10 to 60000.');
}

interface TestOptions {
  readonly testbed?: string;
  readonly node?: boolean;
  readonly deadline: number;
}

async function run(command: Command, io: Io): Promise<void> {
  const { testbed, node, deadline } = optionsOf(command) as unknown as TestOptions;
  if (node === true) return testNode(command, io, deadline);
  return testTestbed(
    command,
    io,
    await chooseTestbed(io, testbed, ', or --node on a node of a cluster'),
    deadline,
  );
}

async function testTestbed(command: Command, io: Io, name: string, deadline: number): Promise<void> {
  const { openTestbed, pathsOf } = await import('@podwire/testbed');
  const testbed = await openTestbed(name);
  try {
    const report = await probe(io, deadline, (options) => testbed.matrix(options));
    await saveReport(pathsOf(name).connectivity, report, io.now());
    await show(command, io, report, { testbed: name });
  } finally {
    await testbed.release();
  }
}

async function testNode(command: Command, io: Io, deadline: number): Promise<void> {
  const [{ locateCluster }, { describeLimits, lookAround, probeOwnNode }, { openLocatedApi }, { askAgents }] =
    await Promise.all([
      import('../cluster/options.js'),
      import('../testbed/own-node.js'),
      import('../api/locate.js'),
      import('@podwire/testbed'),
    ]);
  const place = await locateCluster(command, io);
  const allocationRecords = place === undefined ? [] : await readAllocationRecords(io, place);
  const api = await openLocatedApi(command, io);
  const own = await lookAround(api, allocationRecords);
  const report = await probe(io, deadline, (options) =>
    probeOwnNode(own, { ...options, askPolicy: askAgents([{ api }]) }),
  );
  await saveReport(besideSocket(api.socket), report, io.now());
  const limits = describeLimits(own, place !== undefined);
  await show(command, io, report, { node: own.stations.at(-1)?.name, limits }, limits);
}

async function readAllocationRecords(io: Io, place: ClusterPlace): Promise<AllocationRecord[]> {
  const [{ withStoreAt }, { readCluster }] = await Promise.all([
    import('../cluster/with-store.js'),
    import('@podwire/cluster-ipam/operations'),
  ]);
  const { allocationRecords } = await withStoreAt(place, io, readCluster);
  return allocationRecords.map(({ value }) => value);
}

async function probe(
  io: Io,
  deadline: number,
  work: (options: ProbeOptions) => Promise<ConnectivityReport>,
): Promise<ConnectivityReport> {
  const progress = startProgress(io);
  const onResult = (done: number, all: number): void =>
    void (io.stderr.isTTY && progress.show('packets sent and answered', `${done} of ${all}`));
  try {
    return await withInterrupt((signal) => work({ deadline, signal, onResult }));
  } finally {
    progress.end();
  }
}

async function show(
  command: Command,
  io: Io,
  report: ConnectivityReport,
  about: object,
  notes: readonly string[] = [],
): Promise<void> {
  if (!report.ok) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, { ...about, ...report });
  const { renderMatrix, renderFailures, renderSummary } = await import('../testbed/render-matrix.js');
  const paint = colorsFor(io, io.stdout);
  const failures = renderFailures(report, paint);
  return writeLines(io, [
    ...renderMatrix(report, widthOf(io), paint),
    ...(failures.length === 0 ? [] : ['', ...failures]),
    ...notes.map(paint.yellow),
    ...renderSummary(report, paint),
  ]);
}
