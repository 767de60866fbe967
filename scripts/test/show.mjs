/** Output of a test run. A result is { phase, name, passed, failed, skipped, seconds, output, failures, flaky }. */
import { describeFailure } from './flaky.mjs';

const plural = (count, word) => `${count} ${word}`;
export const countsOf = ({ passed, failed, skipped }) =>
  [plural(passed, 'passed'), plural(failed, 'failed'), ...(skipped ? [plural(skipped, 'skipped')] : [])].join(
    ', ',
  );

export const showPhase = (title) => console.log(`\n── ${title} ──`);

/** One line for a file that is done, and everything it said if something failed. */
export function showResult(result) {
  const mark = result.failed > 0 ? '✗' : '✓';
  console.log(`${mark} ${result.name}  ${countsOf(result)} (${result.seconds.toFixed(1)} s)`);
  if (result.failed > 0) console.log(result.output.replace(/^/gm, '    '));
}

const sum = (results, key) => results.reduce((total, result) => total + result[key], 0);
export const totalOf = (results) => ({
  passed: sum(results, 'passed'),
  failed: sum(results, 'failed'),
  skipped: sum(results, 'skipped'),
});

const WHY_LINES = 40;

/** The lines that tell most: what the reporter of node:test gathers at its end, or else the last ones. */
function whyOf({ output }) {
  const gathered = output.lastIndexOf('failing tests:');
  if (gathered >= 0)
    return output
      .slice(gathered)
      .split('\n')
      .slice(1, 1 + WHY_LINES);
  return output.trimEnd().split('\n').slice(-WHY_LINES);
}

/** Repeats the reasons at the end, so that the last lines of a long log say why a test failed. */
function showFailures(failed) {
  for (const result of failed) {
    console.log(`\n✗ ${result.name}`);
    const lines = whyOf(result).filter((line) => line.trim() !== '');
    if (lines.length > 0) console.log(lines.map((line) => `    ${line}`).join('\n'));
  }
  console.log(`\nFailed: ${failed.map(({ name }) => name).join(', ')}`);
}

/** Files that failed beside others and passed alone. */
function showFlaky(results) {
  const flaky = results.filter((result) => result.flaky !== undefined);
  if (flaky.length === 0) return;
  console.log('\nFlaky (passed alone):');
  for (const { name, flaky: first } of flaky) console.log(`  ${name}\n    ${describeFailure(first)}`);
}

/** A table of all files, those that failed once more with the reason, and the counts as the last line, alone. */
export function showSummary(results) {
  const width = Math.max(4, ...results.map(({ name }) => name.length));
  const row = (name, ...cells) =>
    console.log([name.padEnd(width), ...cells.map((cell) => String(cell).padStart(8))].join(''));
  let phase;
  console.log('');
  for (const result of results) {
    if (result.phase !== phase)
      row((phase = result.phase).toUpperCase(), 'passed', 'failed', 'skipped', 'seconds');
    row(result.name, result.passed, result.failed || '', result.skipped || '', result.seconds.toFixed(1));
  }
  showFlaky(results);
  const failed = results.filter((result) => result.failed > 0);
  if (failed.length > 0) showFailures(failed);
  if (results.length === 0) console.log('No test ran.');
  console.log(`\n${countsOf(totalOf(results))}`);
}
