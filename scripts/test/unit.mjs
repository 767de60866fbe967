/** Unit and property tests: vitest, on the sources. */
import fs from 'node:fs';
import path from 'node:path';
import { runNode } from './children.mjs';

const SECONDS = 900;

export async function runUnit({ root, grep, quick, files, env, temporary }) {
  const report = path.join(temporary, 'unit.json');
  const parameters = [
    ...[path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '--passWithNoTests'],
    `--reporter=${path.join(import.meta.dirname, 'failed-files.mjs')}`,
    ...(grep === undefined ? [] : ['--testNamePattern', grep]),
  ];
  const quickly = quick ? { PODWIRE_TEST_QUICK: '1' } : {};
  const options = {
    cwd: root,
    env: { ...env, ...quickly },
    seconds: SECONDS,
    onOutput: (chunk) => process.stdout.write(chunk),
  };
  const { code, timedOut, seconds } = await runNode(parameters, options);
  const results = fs.existsSync(report)
    ? readReport(root, report, { ignoresSkipped: quick || grep !== undefined })
    : [];
  fs.rmSync(report, { force: true });
  if (code !== 0 && !results.some(({ failed }) => failed > 0)) {
    const output = timedOut ? `did not end within ${SECONDS} s` : `vitest ended with ${code}; see above`;
    results.push({ phase: 'unit', name: 'vitest', passed: 0, failed: 1, skipped: 0, seconds, output });
  }
  return results;
}

/** vitest's JSON has the form of jest's: a result for each file, an assertion result for each test. */
function readReport(root, file, { ignoresSkipped }) {
  const { testResults } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const results = testResults.map(({ name, status, message, assertionResults, startTime, endTime }) => {
    const count = (...states) => assertionResults.filter((test) => states.includes(test.status)).length;
    const failed = count('failed');
    return {
      phase: 'unit',
      name: path.relative(root, name),
      passed: count('passed'),
      // A file that cannot even be loaded has no tests.
      failed: failed === 0 && status === 'failed' ? 1 : failed,
      // With a pattern or a tag, vitest counts the tests that do not match as skipped.
      skipped: ignoresSkipped ? 0 : count('pending', 'skipped', 'todo', 'disabled'),
      seconds: Math.max(0, endTime - startTime) / 1000,
      failures: listFailures(message, assertionResults),
      output: [message, ...assertionResults.map(describeFailure)].filter((text) => text).join('\n'),
    };
  });
  const counted = results.filter(({ passed, failed, skipped }) => passed + failed + skipped > 0);
  return counted.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function listFailures(message, assertionResults) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return message ? [{ message }] : [];
  return failed.map(({ fullName, failureMessages }) => ({ test: fullName, message: failureMessages[0] }));
}

const describeFailure = ({ status, fullName, failureMessages }) =>
  status === 'failed' ? [`✖ ${fullName}`, ...failureMessages].join('\n') : '';
