/** Files that fail beside others and pass alone: defects of a test or of the product that must not hide, nor stop all work. */

/** More flaky files than this are a red run. */
const MOST = 2;

/** Phases whose files can be run again; the others look at text or at the machine, which stays as it is. */
const repeatable = new Set(['unit', 'ns', 'system', 'kubernetes']);

export const isRepeatable = ({ phase, name, failed }) =>
  failed > 0 && repeatable.has(phase) && /\.test\.m?[jt]s$/.test(name);

/** The first failure in one line: the test, then the first line of its error. */
export function describeFailure({ failures: [first] = [] }) {
  const { test, message = 'no message' } = first ?? {};
  const line = message.split('\n', 1)[0];
  return test === undefined ? line : `${test}: ${line}`;
}

/** Sentences of node:assert itself, which say nothing of the fault. */
const GENERIC = /^(?:Expected |Missing expected|Got unwanted|The (?:expression|input|function) |no message)/;

/** Two failures are of one kind when their errors differ in numbers, addresses and names alone. */
export function kindOf({ failures: [first] = [] }) {
  const line = (first?.message ?? 'no message').split('\n', 1)[0];
  const kind = line
    .replaceAll(/'[^']*'|"[^"]*"|`[^`]*`/g, '…')
    .replaceAll(/\S*[/:]\S+/g, '…')
    .replaceAll(/[\w.]*\d[\w.]*/g, '…');
  return GENERIC.test(kind) && first?.test !== undefined ? `${first.test}: ${kind}` : kind;
}

/**
 * Runs each failed file once more, one at a time.
 * @param results of all phases
 * @param runAlone runs the file of a result and returns its new result
 * @returns the results, in which a file that passed counts as passed and has its first run as `flaky`
 */
export async function runFailedAgain(results, runAlone) {
  const again = [];
  for (const result of results) {
    const second = isRepeatable(result) ? await runAlone(result) : undefined;
    const isFlaky = second !== undefined && second.failed === 0 && second.passed > 0;
    again.push(isFlaky ? { ...second, flaky: result } : result);
  }
  return again;
}

/** @returns a failed result where flaky files are too many, or have a fault in common; else none */
export function limitFlaky(results) {
  const flaky = results.flatMap((result) => (result.flaky === undefined ? [] : [result.flaky]));
  const kinds = flaky.map(kindOf);
  const common = kinds.find((kind, index) => kinds.indexOf(kind) !== index);
  const faults = [
    ...(flaky.length > MOST ? [`${flaky.length} files are flaky; more than ${MOST} are a red run`] : []),
    ...(common === undefined ? [] : [`more than one file is flaky with one kind of failure: ${common}`]),
  ];
  if (faults.length === 0) return [];
  const counts = { passed: 0, failed: 1, skipped: 0, seconds: 0 };
  return [{ phase: 'flaky', name: 'flaky files are few', ...counts, output: faults.join('\n') }];
}
