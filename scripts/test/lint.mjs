/** The checks of the text itself. Each counts as one test. */
import fs from 'node:fs';
import path from 'node:path';
import { forEachBounded, lowestPriority, runNode } from './children.mjs';
import { findCommentFaults } from './comments.mjs';
import { splitForEslint } from './eslint.mjs';
import { findLineFaults } from './lines.mjs';
import { findLinkFaults } from './links.mjs';
import { showResult } from './show.mjs';
import { findCommandFaults } from './contributing.mjs';
import { findRepositoryFaults } from './repository.mjs';
import { findWordFaults } from './words.mjs';

const prettier = [
  'prettier',
  'node_modules/prettier/bin/prettier.cjs',
  ...['--check', '--log-level=warn', '.'],
];

const checks = [
  ['spelling', 'node_modules/cspell/bin.mjs', 'lint', '--no-progress', '--no-summary'],
  [
    'API pages',
    'node_modules/typedoc/bin/typedoc',
    '--options',
    'scripts/docs/typedoc.json',
    '--emit',
    'none',
  ],
  [
    'dependency arrows',
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    'packages',
    'plugin',
  ],
];

const listEslintChecks = (root) =>
  splitForEslint(root).map((part, index, all) => [
    `eslint, part ${index + 1} of ${all.length}`,
    'node_modules/eslint/bin/eslint.js',
    '--max-warnings=0',
    ...part,
  ]);

async function runCheck(root, [name, program, ...parameters], options = {}) {
  if (!fs.existsSync(path.join(root, program))) throw new Error(`${program} is missing; run: npm run setup`);
  const { code, output, seconds } = await runNode([program, ...parameters], {
    ...{ cwd: root, seconds: 600, ...options },
  });
  return toResult(name, code === 0, output, seconds);
}

function checkFaults(name, findFaults, root) {
  const since = performance.now();
  const faults = findFaults(root);
  return toResult(name, faults.length === 0, faults.join('\n'), (performance.now() - since) / 1000);
}

const toResult = (name, good, output, seconds) => {
  const counts = { passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: 0 };
  const result = { phase: 'lint', name, ...counts, seconds, output };
  showResult(result);
  return result;
};

/** All of it. */
export async function runLint({ root }) {
  const slow = [prettier, ...listEslintChecks(root)];
  const results = await forEachBounded(slow, 2, (check) => runCheck(root, check));
  return [...results, ...(await runTextChecks({ root }))];
}

/** ESLint and prettier beside tests that wait for other programs most of their time: alone they take a tenth of a whole run. */
export const runSlowChecksBeside = ({ root }) =>
  forEachBounded([prettier, ...listEslintChecks(root)], 1, (check) =>
    runCheck(root, check, { priority: lowestPriority, seconds: 1_800 }),
  );

/** All but ESLint and prettier. */
export async function runTextChecks({ root }) {
  const results = await forEachBounded(checks, 2, (check) => runCheck(root, check));
  return [
    ...results,
    checkFaults('repository', findRepositoryFaults, root),
    checkFaults('links of the documentation', findLinkFaults, root),
    checkFaults('lines of the documentation', findLineFaults, root),
    checkFaults('words of the field', findWordFaults, root),
    checkFaults('comments', findCommentFaults, root),
    checkFaults('commands of CONTRIBUTING.md', findCommandFaults, root),
  ];
}
