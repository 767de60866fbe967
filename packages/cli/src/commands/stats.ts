import type { PodUse } from '@podwire/podlet';
import { pause, systemClock } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf } from '../command.js';
import { colorsFor, type Io, printable, widthOf } from '../io.js';
import { addWatch, showView } from '../output/show.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod, fullName } from '../pods/names.js';
import { type MeasuredUse, measureUse, renderUse } from '../pods/use.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows what the containers of pods use: processors (100% is one of them, over the last second), memory, processes, and bytes received and sent.',
    )
    .argument('[pod]', 'NAME, NAMESPACE/NAME, or pod/NAME; all when absent')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .action((pod: string | undefined) => show(command, io, pod));
  addDirectory(addOutput(addWatch(command), ['text', 'json']));
  addExamples(command, [
    ['podwire stats', ''],
    ['podwire stats shop/web -w', 'again each second'],
  ]);
}

/** Milliseconds between two looks, from which the share of the processors follows. */
const interval = 1_000;

async function show(command: Command, io: Io, text: string | undefined): Promise<void> {
  const { namespace } = optionsOf(command) as { namespace?: string };
  const api = openLocatedPodApi(command, io);
  const pod = text === undefined ? undefined : await findPod(api, text, namespace);
  const query = pod === undefined ? '/v1/stats' : `/v1/stats/${fullName(pod)}`;
  const look = async (): Promise<readonly PodUse[]> => {
    const { pods } = await api.get<{ pods: PodUse[] }>(query);
    return pods.filter((each) => namespace === undefined || each.namespace === namespace);
  };
  let before: readonly PodUse[] | undefined;
  await showView<readonly MeasuredUse[]>(command, io, {
    read: async (signal) => {
      const first = before ?? (await look());
      if (before === undefined) await pause(systemClock, interval, signal);
      before = await look();
      return measureUse(first, before);
    },
    data: (pods) => ({ pods }),
    notes: (pods) => [
      ...(pods.length === 0 ? ['no pods'] : []),
      ...pods.flatMap((each) =>
        each.problem === undefined ? [] : [printable(`pod/${fullName(each)}: ${each.problem}`)],
      ),
    ],
    lines: (pods) => (pods.length === 0 ? [] : renderUse(pods, colorsFor(io, io.stdout), widthOf(io))),
    watch: { rows: (pods) => pods },
  });
}
