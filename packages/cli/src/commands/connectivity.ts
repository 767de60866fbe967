import { type Command, InvalidArgumentError } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { chooseTestbed } from '../testbed/choose.js';

export function define(command: Command, io: Io): void {
  command.description('Whether pods reach each other.');
  const test = command
    .command('test')
    .summary('send packets between all pods and nodes of a testbed')
    .description(
      'Sends packets between all pods and nodes of a testbed, and to the outside: over TCP more than one packet each way, and one datagram of the full size that must not be fragmented. It counts only if the right one answers, and if it sees whom it should: a pod as itself, outside as its node. Addresses that nobody has must stay silent.',
    )
    .option('--testbed <name>', 'the testbed; the only one when absent')
    .option('--deadline <milliseconds>', 'how long to wait for an answer', readDeadline, 1_500)
    .action(() => run(test, io));
  addOutput(test);
  addExamples(test, [
    ['podwire testbed up', 'first'],
    ['podwire connectivity test', ''],
    ['podwire connectivity test -o json', '{"ok":true,"parties":[…],"results":[…],…}'],
  ]).addHelpText('after', '\nExit code 4: something was not as it should be.');
}

function readDeadline(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 10 && value <= 60_000) return value;
  throw new InvalidArgumentError('It must be a number of milliseconds from 10 to 60000.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { testbed: given, deadline } = optionsOf(command) as { testbed?: string; deadline: number };
  const name = await chooseTestbed(io, given);
  const { openTestbed } = await import('@podwire/testbed');
  const testbed = await openTestbed(name);
  const progress = startProgress(io);
  const json = outputOf(command) === 'json';
  const onResult = (done: number, all: number): void =>
    void (io.stderr.isTTY && progress.show('packets sent and answered', `${done} of ${all}`));
  try {
    const report = await withInterrupt((signal) => testbed.matrix({ deadline, signal, onResult }));
    progress.end();
    if (!report.ok) io.exitCode = exitCodes.notAsItShould;
    if (json) return writeJson(io, { testbed: name, ...report });
    const { renderMatrix, renderFailures, renderVerdict } = await import('../testbed/render-matrix.js');
    const paint = colorsFor(io, io.stdout);
    return writeLines(io, [
      ...renderMatrix(report, io.stdout.columns ?? 160, paint),
      ...renderFailures(report, paint),
      ...renderVerdict(report, paint),
    ]);
  } finally {
    progress.end();
    await testbed.release();
  }
}
