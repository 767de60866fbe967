import type { Command } from 'commander';
import { withSlowProgress } from '../cluster/slow-progress.js';
import { addExamples, addOutput, addSocket, optionsOf, outputOf, readSeconds } from '../command.js';
import type { Io } from '../io.js';
import { addObjects, type Objects, withObjects } from '../objects/place.js';
import type { Applied } from '../objects/save.js';
import type { AwaitedChange } from '../objects/wait.js';

interface ApplyOptions {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly timeout: number;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Creates and changes policies and other objects as files describe them. Everything is checked before anything is written: one wrong object refuses all. What another writer changes in the meantime is not overwritten.',
    )
    .requiredOption(
      '-f, --filename <file...>',
      'files, directories of YAML or JSON files, - for standard input',
    )
    .option('-n, --namespace <name>', 'of objects that name none (default)')
    .option('--dry-run', 'check everything, and write nothing')
    .option('--wait', 'until it is in force on every node')
    .option('--timeout <seconds>', 'how long to wait at most', readSeconds, 60)
    .action(() => apply(command, io));
  addSocket(addOutput(addObjects(command)));
  addExamples(command, [
    ['podwire apply -f policies/', ''],
    ['podwire apply -f web.yaml --wait', 'nodes without a living agent are named, and not waited for'],
    ['podwire apply -f - --dry-run -o json', '{"objects":[{"kind":…,"outcome":"created","revision":…}],…}'],
  ]).addHelpText('after', '\nExit code 4: not in force everywhere, or not as it is written.');
}

async function apply(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as unknown as ApplyOptions;
  const [{ readObjectFiles }, { report }] = await Promise.all([
    import('../objects/read-files.js'),
    import('../objects/report.js'),
  ]);
  const objects = readObjectFiles(options.filename, options.namespace);
  const dryRun = options.dryRun === true;
  const result = await withObjects(command, io, async (place, signal) => {
    const { saveAll } = await import('../objects/save.js');
    const outcomes = await withSlowProgress(io, 'applying', () =>
      saveAll(place.source, objects, dryRun, signal),
    );
    const inForce =
      options.wait === true && !dryRun
        ? await waitFor(command, io, place, describeApplied(outcomes), signal)
        : undefined;
    return { outcomes, inForce };
  });
  return report(io, outputOf(command), { ...result, dryRun });
}

const describeApplied = (outcomes: readonly Applied[]): AwaitedChange => ({
  revision: Math.max(...outcomes.map((each) => each.revision)),
  objects: outcomes.map(({ reference }) => reference),
});

/** For what has been changed; shows who is waited for when it takes long. */
export async function waitFor(
  command: Command,
  io: Io,
  place: Objects,
  change: AwaitedChange,
  signal: AbortSignal,
) {
  const { timeout } = optionsOf(command) as { timeout: number };
  const { waitUntilInForce } = await import('../objects/wait.js');
  return withSlowProgress(io, 'waiting until it is in force', () =>
    waitUntilInForce(command, io, place, { ...change, milliseconds: timeout * 1000, signal }),
  );
}
