import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import type { PodsView } from '../pods/names.js';

export function define(command: Command, io: Io): void {
  command
    .description('Lists the pods of this machine’s pod agent, and errors in manifests.')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .action(() => show(command, io));
  addDirectory(addOutput(command, ['text', 'wide', 'name', 'json']));
  addExamples(command, [
    ['podwire ps', ''],
    ['podwire ps -o json', '{"pods":[…],"problems":[…]}'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const { namespace } = optionsOf(command) as { namespace?: string };
  const all = await openLocatedPodApi(command, io).get<PodsView>('/v1/pods');
  const pods = all.pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
  const format = outputOf(command);
  if (format === 'json') return writeJson(io, { ...all, pods });
  if (format === 'name')
    return void pods.forEach((pod) => io.stdout.write(`pod/${pod.namespace}/${pod.name}\n`));
  for (const line of renderProblems(all.problems)) io.stderr.write(`${line}\n`);
  if (pods.length === 0) return void io.stderr.write('no pods\n');
  const { renderPodTable } = await import('../pods/table.js');
  return writeLines(io, renderPodTable(pods, io.now(), colorsFor(io, io.stdout), widthOf(io)));
}

/** `web.yaml: spec.containers[0].image: is missing` */
export function renderProblems(problems: PodsView['problems']): string[] {
  return problems.map(({ origin, field, message }) =>
    printable([origin, ...(field === undefined ? [] : [field]), message].join(': ')),
  );
}
