/** Comments are sentences or noun phrases: none begins with a question word, which leaves the sentence to the reader. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const read = /\.(ts|mjs|js|cjs|c|h)$/;
/** Generated code, and the examples of the check's own test. */
const unread = /(^|\/)(generated|dist|node_modules)\/|^scripts\/test\/comments\.test/;

/** The first words of a comment: behind a `//`, behind a `/*`, or on the line after a bare one. */
const opening = /^(?:.*\s|)(?:\/\/|\/\*\*?) +(What|Who|Whether)\b/;
const bareOpening = /^\s*\/\*\*?$/;
const firstLine = /^\s*\*? *(What|Who|Whether)\b/;

/** The lines of a file on which a comment begins with a question word. Exported for the test. */
export function findQuestions(file, text) {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const isFirst = bareOpening.test(lines[at - 1] ?? '');
    const [, word] = (isFirst ? firstLine.exec(line) : opening.exec(line)) ?? [];
    return word === undefined ? [] : [`${file}:${at + 1}: a comment begins with "${word}"`];
  });
}

/** Faults, in words; empty when all is well. */
export function findCommentFaults(root) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => read.test(file) && !unread.test(file) && fs.existsSync(path.join(root, file)))
    .flatMap((file) => findQuestions(file, fs.readFileSync(path.join(root, file), 'utf8')));
}
