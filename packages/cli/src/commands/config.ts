import fs from 'node:fs';
import type { ConfigProblem } from '@podwire/agent';
import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { addExamples, addOutput, outputOf } from '../command.js';
import { formatPlural } from '../render/counts.js';
import { defineReload } from './config-reload.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command.description('Works with the configuration of the agent.');
  const validate = command
    .command('validate')
    .summary('all errors of a file, each with its line')
    .description('Checks a configuration file of the agent and lists everything that is wrong with it.')
    .argument('<file>', 'YAML; - is standard input')
    .action((file: string) => check(validate, io, file));
  addOutput(validate);
  addExamples(validate, [
    ['podwire config validate /etc/podwire/agent.yaml', ''],
    [
      'podwire config validate -o json agent.yaml',
      '{"file":…,"valid":false,"problems":[{"path","message","line","column"}]}',
    ],
  ]).addHelpText('after', '\nExit code 1: it cannot be used.');
  defineReload(command, io);
}

async function check(command: Command, io: Io, file: string): Promise<void> {
  const text = readFile(file);
  const { checkConfig, formatProblem } = await import('@podwire/agent');
  const { problems } = checkConfig(text);
  if (problems.length > 0) io.exitCode = exitCodes.failed;
  if (outputOf(command) === 'json') return writeJson(io, { file, valid: problems.length === 0, problems });
  if (problems.length === 0) return writeLines(io, [`${file}: ${colorsFor(io, io.stdout).green('valid')}`]);
  const lines = problems.map((problem: ConfigProblem) => formatProblem(file, problem));
  return writeLines(io, [...lines, formatPlural(lines.length, 'problem')]);
}

function readFile(file: string): string {
  try {
    return fs.readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${file}: cannot be read`, { cause });
  }
}
