import { PodwireError } from '@podwire/errors';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addExamples,
  addOutput,
  colorsFor,
  exitCodes,
  type Io,
  optionsOf,
  outputOf,
  ownName,
  startProgress,
  widthOf,
  withInterrupt,
  writeJson,
  writeLines,
} from '@podwire/cli/command';
import type { Inventory } from './teardown.js';
import { type RuntimeName, runtimeNames } from './engines/engine.js';
import type { ManyNodesReport } from './many-nodes.js';
import type { DemoObserver, DemoReport } from './run-demo.js';

interface DemoOptions {
  readonly runtime: RuntimeName;
  readonly keep?: boolean;
  readonly end?: string | true;
  readonly nodes?: number;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows Podwire on a private host, a network namespace with an uplink. It runs the three pods of examples/ as `podwire up` does, sends packets between all of them, and prints a trace from the manifest to its network. Then it removes everything. The network of this machine is not changed. Needs root, iproute2, nftables and busybox-static; takes some seconds.',
    )
    .addOption(
      new Option(
        '--runtime <name>',
        'runs the containers: processes of this machine, or a private instance of a real engine',
      )
        .choices(runtimeNames)
        .default('embedded'),
    )
    .option('--nodes <number>', 'then run a testbed of so many nodes', readNodes)
    .option('--keep', 'keep it running, and show how to inspect it')
    .option('--end [name]', 'remove a demo that was kept or killed; without a name, all of them')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire demo', ''],
    ['podwire demo --runtime containerd', ''],
    ['podwire demo --nodes 3', 'and a cluster of three nodes'],
    ['podwire demo --keep', ''],
    ['podwire demo --end', 'after --keep'],
    ['podwire demo -o json', '{"pods":[…],"checks":[…],"rates":[…],"trace":…,"ending":…}'],
  ]).addHelpText('after', '\nExit code 4: something was not reachable, or something was left behind.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { runtime, keep, end, nodes } = optionsOf(command) as unknown as DemoOptions;
  const json = outputOf(command) === 'json';
  if (end !== undefined) return endDemos(command, io, end === true ? undefined : end);
  const { runDemo } = await import('./run-demo.js');
  const progress = startProgress(io);
  const observer = json ? silent : await createWriter(io);
  const report = await withInterrupt(async (signal) => {
    const own = await runDemo({ runtime, keep: keep === true, io, signal, progress, observer });
    return nodes === undefined ? own : { ...own, manyNodes: await runManyNodes(io, nodes, json, signal) };
  });
  if (!(await isAllWell(report))) io.exitCode = exitCodes.notAsItShould;
  if (json) return writeJson(io, report);
  if (report.kept !== undefined) await writeKept(io, report);
}

const silent: DemoObserver = {
  up: () => undefined,
  measured: () => undefined,
  rated: () => undefined,
  traced: () => undefined,
  ended: () => undefined,
};

/** Writes each part when it is known. */
async function createWriter(io: Io): Promise<DemoObserver> {
  const render = await import('./render.js');
  const paint = colorsFor(io, io.stdout);
  const width = widthOf(io);
  return {
    up: (pods) => writeLines(io, render.renderPods(pods, width, paint)),
    measured: (checks) =>
      writeLines(io, [
        ...render.renderMatrix(checks, width, paint),
        ...render.renderPorts(checks, width, paint),
        '',
        ...render.renderSummary(checks, paint),
        '',
      ]),
    rated: (rates) => writeLines(io, render.renderRates(rates, width, paint)),
    traced: (trace) =>
      writeLines(io, [...render.renderDemoTrace(trace, io.stdout.columns ?? 100, paint), '']),
    ended: (ending) => writeLines(io, render.renderEnding(ending, paint)),
  };
}

async function writeKept(io: Io, report: DemoReport): Promise<void> {
  const { renderKept } = await import('./render.js');
  return writeLines(io, renderKept(report, ownName(io), colorsFor(io, io.stdout)));
}

function readNodes(text: string): number {
  const nodes = Number(text);
  if (Number.isInteger(nodes) && nodes >= 1 && nodes <= 50) return nodes;
  throw new InvalidArgumentError('It must be a number from 1 to 50.');
}

async function runManyNodes(
  io: Io,
  nodes: number,
  json: boolean,
  signal: AbortSignal,
): Promise<ManyNodesReport> {
  const { isManyNodesWell, renderManyNodes, showManyNodes } = await import('./many-nodes.js');
  const report = await showManyNodes(nodes, startProgress(io), signal);
  if (!isManyNodesWell(report)) io.exitCode = exitCodes.notAsItShould;
  if (!json) writeLines(io, renderManyNodes(report, widthOf(io), colorsFor(io, io.stdout)));
  return report;
}

async function isAllWell({ checks, ending }: DemoReport): Promise<boolean> {
  const { isNothing } = await import('./teardown.js');
  return checks.every(({ ok }) => ok) && (ending === undefined || isNothing(ending.left));
}

async function endDemos(command: Command, io: Io, name: string | undefined): Promise<void> {
  const [
    { findRecords },
    { isAlive },
    { countLeft, endDemo, listBelongings, keepNamespacesOpen, isNothing },
    { endExamples },
  ] = await Promise.all([
    import('./record.js'),
    import('@podwire/linux'),
    import('./teardown.js'),
    import('./pods.js'),
  ]);
  if (process.getuid?.() !== 0) throw new PodwireError('PRIVILEGE_MISSING', 'only root can end a demo');
  // One that runs at this moment ends itself.
  const endable = findRecords().filter((record) => record.kept || !isAlive(record.owner));
  const chosen = endable.filter((record) => name === undefined || record.name === name);
  if (name !== undefined && chosen.length === 0) {
    const others = describeOthers(endable.map((each) => each.name));
    command.error(`error: there is no demo ${name} that goes on or was killed; ${others}`, { exitCode: 2 });
  }
  const progress = startProgress(io);
  const ended: { name: string; left: Inventory }[] = [];
  for (const record of chosen) {
    const closeNamespaces = keepNamespacesOpen(record);
    try {
      const known = listBelongings(record);
      await endExamples(record.directory, io, progress);
      await endDemo(record);
      const left = countLeft(record, known);
      if (!isNothing(left)) io.exitCode = exitCodes.notAsItShould;
      ended.push({ name: record.name, left });
    } finally {
      closeNamespaces();
    }
  }
  const { endManyNodes } = await import('./many-nodes.js');
  for (const testbed of name === undefined ? await endManyNodes() : [])
    ended.push({ name: testbed, left: { namespaces: 0, processes: 0, mounts: 0, files: 0 } });
  if (outputOf(command) === 'json') return writeJson(io, { ended });
  if (ended.length === 0) return writeLines(io, ['no demo goes on']);
  const describe = ({ name: which, left }: (typeof ended)[number]): string =>
    isNothing(left) ? `ended ${which}: nothing is left` : `${which}: left behind ${JSON.stringify(left)}`;
  return writeLines(io, ended.map(describe));
}

function describeOthers(names: readonly string[]): string {
  return names.length === 0 ? 'none goes on' : `there are ${names.join(', ')}`;
}
