import { compact } from '@podwire/platform';
import type { FileStatus, NetworkChoice } from '@podwire/pod-network';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import {
  colorsFor,
  exitCodes,
  type Colors,
  type Io,
  printable,
  widthOf,
  writeJson,
  writeLines,
} from '../io.js';
import { defaultPluginPath } from '../pod-agent/options.js';
import type { Column, TableOptions } from '../render/table.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';

interface ExplainOptions {
  readonly cniConfDir?: string;
  readonly cniBinDir?: string[];
  readonly network?: string;
}

export function define(command: Command, io: Io): void {
  command.description('Shows which CNI network the pods of this machine get, and why.');
  const explain = command
    .command('explain')
    .summary('the configuration file in use, and why the others are not')
    .description(
      'Shows which CNI configuration file is used, why the others are not, and whether the network is ready. Asks the pod agent; with --cni-conf-dir it reads a directory as a runtime would.',
    )
    .option('--cni-conf-dir <dir>', 'read this directory, without a pod agent')
    .option('--cni-bin-dir <dir...>', 'where plugins are')
    .option('--network <name>', 'use the network of this name')
    .action(() => show(explain, io));
  addDirectory(addOutput(explain, ['text', 'wide', 'json']));
  addExamples(explain, [
    ['podwire net explain', ''],
    ['podwire net explain --cni-conf-dir /etc/cni/net.d', 'what containerd would find'],
  ]).addHelpText('after', '\nExit code 4: no network is ready.');
}

async function show(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as ExplainOptions;
  const choice =
    options.cniConfDir === undefined
      ? await openLocatedPodApi(command, io).get<NetworkChoice>('/v1/network')
      : await lookInto(options.cniConfDir, options);
  if (!choice.status.ready) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, choice);
  const { renderTable } = await import('../render/table.js');
  const paint = colorsFor(io, io.stdout);
  const table =
    choice.files.length === 0
      ? [`no configuration in ${choice.directory}`]
      : renderTable(fileTable(choice, paint), paint, widthOf(io));
  return writeLines(io, [...describeNetwork(choice, paint), '', ...table]);
}

export function fileTable({ files }: Pick<NetworkChoice, 'files'>, paint: Colors): TableOptions {
  const rows = files.map(({ file, verdict: result, why }) => [
    printable(file),
    paintResult(result, paint),
    printable(why),
  ]);
  const head: Column[] = [
    { title: 'FILE' },
    { title: 'RESULT', cut: 'never', importance: Infinity },
    { title: 'WHY', least: 16 },
  ];
  return { head, rows };
}

/** As a runtime that starts now would see it; nothing is attached. */
async function lookInto(directory: string, { cniBinDir, network }: ExplainOptions): Promise<NetworkChoice> {
  const { explainDirectory } = await import('@podwire/pod-network');
  return explainDirectory({
    configDirectory: directory,
    pluginPath: cniBinDir ?? defaultPluginPath,
    ...compact({ network }),
  });
}

function describeNetwork({ network, status, pinned }: NetworkChoice, paint: Colors): string[] {
  const pin = pinned === undefined ? '' : ` (pinned to ${printable(pinned)})`;
  const ready = status.ready ? paint.green('ready') : paint.red(`not ready: ${printable(status.message)}`);
  if (network === undefined) return [`no network${pin}, ${ready}`];
  const kept = network.kept ? paint.yellow(', kept although its file is gone or broken by now') : '';
  return [
    `${paint.bold(printable(network.name))}${pin} from ${printable(network.file)}${kept}, ${ready}`,
    `plugins: ${network.plugins.map(printable).join(', ')}`,
  ];
}

function paintResult(result: FileStatus, paint: Colors): string {
  if (result === 'chosen') return paint.green(result);
  return result === 'not needed' || result === 'other name' ? paint.dim(result) : paint.red(result);
}
