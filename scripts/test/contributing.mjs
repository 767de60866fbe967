/** The commands of CONTRIBUTING.md work: those without a mark are executed, the others are checked to exist. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const marks = ['network', 'minutes', 'watch', 'root', 'build', 'writes'];
const deadlineMilliseconds = 300_000;

const splitWords = (text) =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain)
    .filter((word, at) => !(at === 0 && (word === 'sudo' || /^[A-Z_]+=/.test(word))));

/** The lines `program parameters # [mark] text` of each fenced block of the kind `sh`. */
export function readCommands(markdown) {
  return [...markdown.matchAll(/^```sh\n([^]*?)^```$/gm)]
    .flatMap(([, block]) => block.split('\n'))
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, text, mark] = /^(.*?)(?:\s+#\s*(?:\[(\w+)\])?.*)?$/.exec(line);
      return { text, mark, words: splitWords(text) };
    });
}

/** Reports if the command's target is there: an npm script, a program of node_modules, a file. */
function exists(root, [program, ...parameters]) {
  const isFile = (file) => fs.existsSync(path.join(root, file));
  if (program === 'npx') return isFile(`node_modules/.bin/${parameters[0]}`);
  if (program === 'node') return isFile(parameters[0]);
  if (program !== 'npm') return isFile(program);
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const name = parameters[0] === 'run' ? parameters[1] : parameters[0];
  return name === 'ci' || Object.hasOwn(scripts, name);
}

function runFault(root, { text, words: [program, ...parameters] }) {
  const options = { cwd: root, encoding: 'utf8', timeout: deadlineMilliseconds };
  const { status, error, stdout, stderr } = spawnSync(program, parameters, options);
  if (status === 0) return [];
  return [`\`${text}\` failed (${error?.message ?? `exit code ${status}`})\n${stdout}${stderr}`];
}

function commandFaults(root, command) {
  if (command.mark !== undefined && !marks.includes(command.mark))
    return [`\`${command.text}\` has an unknown mark: [${command.mark}]`];
  if (!exists(root, command.words)) return [`\`${command.text}\` names something that does not exist`];
  return command.mark === undefined ? runFault(root, command) : [];
}

/** Faults of the commands, in words; empty when all work. */
export function findCommandFaults(root) {
  const commands = readCommands(fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8'));
  if (commands.length === 0) return ['CONTRIBUTING.md has no block of commands'];
  return commands.flatMap((command) => commandFaults(root, command));
}
