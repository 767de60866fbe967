/** Lines of documentation have at most 120 characters, tables and generated pages included. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const longest = 120;

/** Pages whose lines are still longer. The list only becomes shorter. */
const unfinished = ['docs/configuration.md'];

/** A path, a URL or a document in one pair of backticks has no place to break. */
const canBreak = (line) =>
  /\S\s+\S/.test(
    line
      .replace(/^\s*(?:[-*]|\d+\.) /, '')
      .replace(/`[^`]*`/g, 'x')
      .replace(/\]\([^)]*\)/g, ']'),
  );

/** Faults in the lines of a page; the output of a program, in a fenced block, stands as it is. */
export function findLongLines(file, text) {
  const prose = text.replace(/^( *)```[^]*?^\1```$/gm, (block) => block.replace(/[^\n]/g, ''));
  return prose.split('\n').flatMap((line, at) => {
    const length = [...line].length;
    return length > longest && canBreak(line) ? [`${file}:${at + 1} has ${length} characters`] : [];
  });
}

/** Faults, in words; empty when all is well. */
export function findLineFaults(root) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => file !== '' && !unfinished.includes(file) && fs.existsSync(path.join(root, file)))
    .flatMap((file) => findLongLines(file, fs.readFileSync(path.join(root, file), 'utf8')));
}
