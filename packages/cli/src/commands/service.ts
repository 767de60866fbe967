/** `podwire service`: the node agent and the pod agent as units of systemd. */
import path from 'node:path';
import fs from 'node:fs';
import { type Command, Option } from 'commander';
import { checkoutFile } from '../checkout.js';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { ownName } from '../own-name.js';
import { defaultDirectory } from '../pods/locate.js';
import type { ServiceOptions } from '../service/install.js';
import type { Systemctl } from '../service/systemctl.js';
import { type ServiceName, unitNames } from '../service/units.js';
import type { FileChange } from './install-files.js';

export function define(command: Command, io: Io): void {
  command.description('Runs the node agent and the pod agent as services of systemd.');
  defineInstall(command, io);
  defineUninstall(command, io);
  defineStatus(command, io);
}

function defineInstall(parent: Command, io: Io): void {
  const command = addServices(parent.command('install'))
    .summary('write, enable and start the units')
    .description(
      'Writes units that start this very program, and configurations where there are none; then enables and starts them. Doing it again changes what is different. Without systemd it says what to do.',
    )
    .option('--no-start', 'only write the files')
    .action((services: ServiceName[]) => install(command, io, services));
  addPlaces(addOutput(command));
  addExamples(command, [
    ['podwire service install', 'node agent and pod agent, manifests in /etc/podwire/pods'],
    ['podwire service install agent', 'only the node agent: containerd or a kubelet runs the pods'],
    ['podwire service install --prefix /mnt/image', 'into an image; nothing is started'],
  ]);
}

function defineUninstall(parent: Command, io: Io): void {
  const command = addServices(parent.command('uninstall'))
    .summary('stop, disable and remove the units')
    .description(
      'Stops and removes the units, and configurations that are as they were written. Pods and their network stay: `podwire down` removes pods, before this.',
    )
    .action((services: ServiceName[]) => uninstall(command, io, services));
  addPlaces(addOutput(command));
  addExamples(command, [['podwire service uninstall', '']]);
}

function defineStatus(parent: Command, io: Io): void {
  const command = addServices(parent.command('status'))
    .summary('whether they run, and since when')
    .description('Shows what systemd knows of the services. `podwire status` asks the node agent itself.')
    .action((services: ServiceName[]) => show(command, io, services));
  addOutput(command);
  addExamples(command, [['podwire service status', '']]).addHelpText(
    'after',
    '\nExit code 4: one of them does not run.',
  );
}

const all: readonly ServiceName[] = ['agent', 'podlet'];

function addServices(command: Command): Command {
  const argument = command.createArgument('[services...]', 'agent and podlet (default: both)').choices(all);
  return command.addArgument(argument);
}

function addPlaces(command: Command): Command {
  return command
    .addOption(
      new Option('--config <file>', "the node agent's configuration").default('/etc/podwire/agent.yaml'),
    )
    .addOption(
      new Option('--podlet-config <file>', "the pod agent's options").default('/etc/podwire/podlet.yaml'),
    )
    .addOption(new Option('--directory <dir>', 'sockets and state').default(defaultDirectory))
    .option('--prefix <dir>', 'put files below this directory, and leave systemd alone');
}

function readOptions(command: Command, services: readonly ServiceName[]): ServiceOptions {
  const words = optionsOf(command) as {
    config: string;
    podletConfig: string;
    directory: string;
    prefix?: string;
  };
  const script = fs.realpathSync(process.argv[1] ?? checkoutFile('bin/podwire'));
  return {
    services: services.length === 0 ? all : all.filter((name) => services.includes(name)),
    program: [process.execPath, ...process.execArgv, script],
    agentConfig: path.resolve(words.config),
    podletConfig: path.resolve(words.podletConfig),
    directory: path.resolve(words.directory),
    pluginDirectory: checkoutFile('bin'),
    prefix: path.resolve(words.prefix ?? '/'),
  };
}

interface Outcome {
  readonly changes: readonly FileChange[];
  readonly systemd: boolean;
}

async function install(command: Command, io: Io, services: readonly ServiceName[]): Promise<void> {
  const options = readOptions(command, services);
  const { start } = optionsOf(command) as { start: boolean };
  const outcome = await withInterrupt(async (signal): Promise<Outcome> => {
    const { startServices, writeServices } = await import('../service/install.js');
    const changes = await writeServices(options);
    const systemctl = start ? await findSystemctl(options, signal) : undefined;
    if (systemctl !== undefined) await startServices(systemctl, options.services, changes);
    return { changes, systemd: systemctl !== undefined };
  });
  if (outputOf(command) === 'json') return writeJson(io, outcome);
  writeLines(io, [...describeChanges(outcome.changes), ...nextSteps(io, options, outcome)]);
}

function nextSteps(io: Io, { services, podletConfig }: ServiceOptions, { systemd }: Outcome): string[] {
  const units = services.map((name) => unitNames[name]).join(' ');
  if (!systemd)
    return [
      '',
      'Not started. Next, where systemd runs:',
      `  systemctl daemon-reload`,
      `  systemctl enable --now ${units}`,
    ];
  const manifests = path.join(path.dirname(podletConfig), 'pods');
  const pods = services.includes('podlet') ? [`Put manifests into ${manifests}.`] : [];
  return [
    '',
    `Running: ${units}`,
    ...pods,
    `Look: ${ownName(io)} service status, journalctl -u podwire-agent`,
  ];
}

async function uninstall(command: Command, io: Io, services: readonly ServiceName[]): Promise<void> {
  const options = readOptions(command, services);
  const changes = await withInterrupt(async (signal) => {
    const { reloadAfterRemoval, removeServices, stopServices } = await import('../service/install.js');
    const systemctl = await findSystemctl(options, signal);
    if (systemctl !== undefined) await stopServices(systemctl, options);
    const removed = await removeServices(options);
    if (systemctl !== undefined) await reloadAfterRemoval(systemctl, options.services);
    return removed;
  });
  if (outputOf(command) === 'json') return writeJson(io, { changes });
  const lines = describeChanges(changes);
  writeLines(io, lines.length === 0 ? ['nothing is installed'] : lines);
}

async function findSystemctl(
  { prefix }: ServiceOptions,
  signal: AbortSignal,
): Promise<Systemctl | undefined> {
  if (prefix !== '/') return undefined;
  const { openSystemctl } = await import('../service/systemctl.js');
  return openSystemctl(signal);
}

function describeChanges(changes: readonly FileChange[]): string[] {
  const shown = changes.filter(({ action }) => action !== 'absent' && action !== 'unchanged');
  return shown.map(({ path: file, action }) => `${action.padEnd(9)} ${file}`);
}

interface UnitState {
  readonly unit: string;
  readonly active: string;
  readonly enabled: string;
  readonly since: string;
  readonly pid: number;
  readonly restarts: number;
  readonly status: string;
}

async function show(command: Command, io: Io, services: readonly ServiceName[]): Promise<void> {
  const names = services.length === 0 ? all : services;
  const states = await withInterrupt(async (signal) => {
    const { openSystemctl } = await import('../service/systemctl.js');
    const systemctl = openSystemctl(signal);
    if (systemctl === undefined) return undefined;
    return Promise.all(names.map((name) => readState(systemctl, unitNames[name])));
  });
  if (states?.every(({ active }) => active === 'active') !== true) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json')
    return writeJson(io, { systemd: states !== undefined, services: states ?? [] });
  if (states === undefined) return writeLines(io, ['systemd does not run on this machine']);
  const paint = colorsFor(io, io.stdout);
  writeLines(
    io,
    states.flatMap((state) => {
      const color = state.active === 'active' ? paint.green : paint.red;
      const restarts = state.restarts === 0 ? '' : `, started again ${state.restarts} times`;
      const run = state.pid === 0 ? '' : `, process ${state.pid}, since ${state.since}${restarts}`;
      const first = `${state.unit}: ${color(state.active)}, ${state.enabled}${run}`;
      return state.status === '' ? [first] : [first, `  ${state.status}`];
    }),
  );
}

const properties = 'ActiveState,UnitFileState,ActiveEnterTimestamp,MainPID,NRestarts,StatusText';

async function readState(systemctl: Systemctl, unit: string): Promise<UnitState> {
  const text = await systemctl('show', unit, `--property=${properties}`);
  const found = Object.fromEntries(
    text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as Record<string, string | undefined>;
  return {
    unit,
    active: found['ActiveState'] ?? 'unknown',
    enabled: found['UnitFileState'] || 'not installed',
    since: found['ActiveEnterTimestamp'] ?? '',
    pid: Number(found['MainPID'] ?? 0),
    restarts: Number(found['NRestarts'] ?? 0),
    status: found['StatusText'] ?? '',
  };
}
