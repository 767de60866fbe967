/** Namespace and system tests: node:test, compiled, each file a process of its own. */
import fs from 'node:fs';
import path from 'node:path';
import { runNode } from './children.mjs';
import { sortLongestFirst } from './long-files.mjs';
import { showResult } from './show.mjs';

const REPORTER = path.join(import.meta.dirname, 'node-test-reporter.mjs');
const NOTICE_MILLISECONDS = 30_000;

/** Sources of tests whose name ends so; what is only left in `dist` has no source and is not run. */
export function findTests(root, ending, filters) {
  const walk = (folder) =>
    fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : walk(place);
      return place.endsWith(ending) ? [place] : [];
    });
  const folders = ['packages', 'plugin', 'test'].filter((folder) => fs.existsSync(path.join(root, folder)));
  const found = folders.flatMap(walk).sort();
  return filters.length === 0
    ? found
    : found.filter((file) => filters.some((filter) => file.includes(filter)));
}

/** `packages/x/test/y.ts` is compiled to `packages/x/dist/test/y.js`, `test/y.ts` to `test/dist/y.js`. */
export const compiledOf = (source) =>
  source
    .replace(/^test\//, 'test/dist/')
    .replace(/\/test\//, '/dist/test/')
    .replace(/\.ts$/, '.js');

/**
 * Compiled tests of these kinds, `ns` or `system`, the longest first: a long one that begins last would run alone.
 * Returns a function for each file that runs it and resolves to its result.
 */
export function listNodeFiles(kinds, { root, grep, files, env, temporary, seconds }) {
  const found = kinds.flatMap((kind) =>
    findTests(root, `.${kind}.test.ts`, files).map((source) => ({ kind, source })),
  );
  return sortLongestFirst(found).map(
    ({ kind, source }) =>
      () =>
        runFile(kind, source, { root, grep, env, temporary, seconds }),
  );
}

/** Only files with tests that match the pattern. */
export const withoutEmpty = (results, grep) =>
  grep === undefined ? results : results.filter(({ passed, failed }) => passed + failed > 0);

async function runFile(phase, source, { root, grep, env, temporary, seconds }) {
  const compiled = path.join(root, compiledOf(source));
  const lines = path.join(temporary, `${source.replaceAll('/', '-')}.jsonl`);
  const parameters = [
    // Of the tests' own process: stack traces point to the sources.
    '--enable-source-maps',
    ...[`--test-reporter=${REPORTER}`, `--test-reporter-destination=${lines}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...(grep === undefined ? [] : [`--test-name-pattern=${grep}`]),
    compiled,
  ];
  const isBuilt = fs.existsSync(compiled);
  const notice = remind(source);
  const outcome = isBuilt
    ? await runNode(parameters, { cwd: root, env, seconds })
    : { code: 1, output: 'not compiled; run: npm run setup', seconds: 0 };
  clearInterval(notice);
  const counts = countLines(lines, grep);
  fs.rmSync(lines, { force: true });
  const result = {
    phase,
    name: source,
    ...evaluate(counts, outcome, seconds, grep),
    seconds: outcome.seconds,
  };
  if (grep === undefined || result.passed + result.failed > 0) showResult(result);
  return result;
}

function remind(source) {
  const since = Date.now();
  const show = () => console.log(`… ${source} runs for ${Math.round((Date.now() - since) / 1000)} s`);
  return setInterval(show, NOTICE_MILLISECONDS);
}

/** Suites are no tests: they fail because a test of theirs did, or else the exit code tells. */
function countLines(file, grep) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  // The last line may be cut off, where the process was killed.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const events = complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const tests = events.filter(({ isSuite }) => !isSuite);
  const isLeftOut = ({ skip }) => grep !== undefined && /does not match|no matching/i.test(String(skip));
  const skipped = tests.filter((test) => (test.skip !== undefined && test.skip !== false) || test.todo);
  const failed = tests.filter((test) => test.failed && !skipped.includes(test));
  return {
    passed: tests.length - failed.length - skipped.length,
    failed: failed.length,
    skipped: skipped.filter((test) => !isLeftOut(test)).length,
    failures: failed.map(({ name, message }) => ({ test: name, message })),
  };
}

function evaluate(counts, { code, output, timedOut }, seconds, grep) {
  const notes = [];
  if (timedOut) notes.push(`did not end within ${seconds} s and was killed`);
  else if (code !== 0 && counts.failed === 0) notes.push(`ended with exit code ${code}`);
  const isEmpty = counts.passed + counts.failed + counts.skipped === 0;
  if (isEmpty && code === 0 && grep === undefined) notes.push('has no tests');
  const failed = counts.failed + (notes.length > 0 ? 1 : 0);
  const failures = [...counts.failures, ...notes.map((message) => ({ message }))];
  return { ...counts, failed, failures, output: [...notes, output].join('\n') };
}
