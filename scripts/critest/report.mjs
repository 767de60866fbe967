/** Results of a run of critest. */

/** @returns { name, state: passed|failed|skipped, seconds, message } of each case */
export function readReport(suites) {
  const cases = suites.flatMap(({ SpecReports }) => SpecReports ?? []);
  return cases.filter(({ LeafNodeType }) => LeafNodeType === 'It').map(readCase);
}

function readCase({ ContainerHierarchyTexts, LeafNodeText, State, RunTime, Failure }) {
  const name = [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ').replace(/^\[k8s\.io\] /, '');
  const states = { passed: 'passed', skipped: 'skipped', pending: 'skipped' };
  const message = Failure?.Message;
  return {
    name,
    state: states[State] ?? 'failed',
    seconds: Math.round(RunTime / 1e8) / 10,
    ...(message ? { message } : {}),
  };
}

export function showReport(results) {
  const marks = { passed: '✓', failed: '✗', skipped: '–' };
  for (const { name, state, seconds, message, why } of results) {
    console.log(`${marks[state]} ${name} (${seconds} s)${why === undefined ? '' : `: ${why}`}`);
    if (state === 'failed') console.log((message ?? '').replace(/^/gm, '    '));
  }
  const count = (state) => results.filter((each) => each.state === state).length;
  const known = results.filter(({ state, why }) => state === 'failed' && why !== undefined).length;
  const failed = `${count('failed')} failed${known === 0 ? '' : ` (${known} of them known)`}`;
  console.log(`\n${count('passed')} passed, ${failed}, ${count('skipped')} left out`);
}
