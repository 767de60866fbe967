import type { Command } from 'commander';
import { readList } from '../cluster/arguments.js';
import { addStore, requireCluster } from '../cluster/options.js';
import { addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { defineTrace } from './ovn-trace.js';

interface ShowOptions {
  readonly northbound?: readonly string[];
  readonly timeout: number;
}

/** Where Debian's OVN has it, unless the variable of ovn-nbctl(8) names another place. */
const usualEndpoint = 'unix:/run/ovn/ovnnb_db.sock';

export function define(command: Command, io: Io): void {
  command.description(
    'Looks at the logical network of Kube-OVN’s objects as OVN has it, and follows packets through it.',
  );
  const show = command
    .command('show')
    .summary('VPCs, their subnets, and the nodes and pods in these')
    .description(
      'Shows the logical network as the objects in the store want it, and marks what is otherwise in OVN’s northbound database. Ends with code 4 if anything is, or if objects contradict each other. Changes nothing.',
    )
    .option(
      '--northbound <endpoints>',
      `the database: unix:PATH, tcp:HOST:PORT ($OVN_NB_DB, or ${usualEndpoint})`,
      readList,
    )
    .option('--timeout <seconds>', 'how long to wait for store and database', readSeconds, 10)
    .action(() => run(show, io));
  addOutput(addStore(show));
  addExamples(show, [
    ['podwire ovn show --store etcd://10.0.0.1:2379', ''],
    ['podwire ovn show --config /etc/podwire/agent.yaml --northbound tcp:10.0.0.1:6641', ''],
    ['podwire ovn show -o json', '{"vpcs":[{"name":"ovn-cluster",…}],…}'],
  ]);
  defineTrace(command, io);
}

const usualEndpoints = ({ env }: Io): readonly string[] => readList(env['OVN_NB_DB'] || usualEndpoint);

async function run(command: Command, io: Io): Promise<void> {
  const { northbound = usualEndpoints(io), timeout } = optionsOf(command) as unknown as ShowOptions;
  const place = await requireCluster(command, io);
  const [
    { showLogicalNetwork },
    { silentLog, systemClock },
    { withSlowProgress },
    { countDrift, renderNetwork },
  ] = await Promise.all([
    import('@podwire/controller'),
    import('@podwire/platform'),
    import('../cluster/slow-progress.js'),
    import('../ovn/render.js'),
  ]);
  const shared = { store: place.spec, root: place.root, northbound, log: silentLog };
  const report = await withInterrupt((interrupted) => {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(timeout * 1_000)]);
    const clock = io.cluster?.clock ?? systemClock;
    const look = () => showLogicalNetwork({ ...shared, clock, signal });
    return withSlowProgress(io, 'waiting for the store and the northbound database', look);
  });
  if (countDrift(report) > 0 || report.problems.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, report);
  return writeLines(io, renderNetwork(report, { paint: colorsFor(io, io.stdout), width: widthOf(io) }));
}
