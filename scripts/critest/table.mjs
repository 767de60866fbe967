#!/usr/bin/env node
/**
 * Makes tables for docs/cri-conformance.md of what `run.mjs --report` has written.
 *
 *   node scripts/critest/table.mjs REPORT…
 */
import fs from 'node:fs';

const reports = process.argv.slice(2).map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
const isBenchmark = ({ name }) => / benchmark about /.test(name);
const casesOf = ({ results }) => results.filter((each) => !isBenchmark(each));

const areas = [
  ...['Runtime info', 'PodSandbox', 'Networking', 'Streaming', 'Container Mount Propagation', 'Container'],
  ...['Multiple Containers', 'Image Manager', 'Security Context'],
];
const areaOf = ({ name }) => areas.find((area) => name.startsWith(area)) ?? 'others';
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const count = (cases, state) => cases.filter((each) => each.state === state).length;

function showCell(cases) {
  const [passed, failed] = [count(cases, 'passed'), count(cases, 'failed')];
  return `${passed} of ${cases.length}${failed === 0 ? '' : `, ${failed} failed`}`;
}

row('', ...reports.map(({ runtime, network }) => `${runtime}, ${network}`));
row('---', ...reports.map(() => '---'));
for (const area of [...areas, 'others']) {
  const cells = reports.map((report) => casesOf(report).filter((each) => areaOf(each) === area));
  if (cells.some((cases) => cases.length > 0)) row(area, ...cells.map(showCell));
}
row('all', ...reports.map((report) => showCell(casesOf(report))));

/** Why something did not pass, where, and which cases. */
const reasons = new Map();
for (const report of reports)
  for (const { name, state, why = 'critest says so' } of casesOf(report)) {
    if (state === 'passed') continue;
    const key = state === 'failed' ? `fails: ${why}` : why;
    const { runtimes, names } = reasons.get(key) ?? { runtimes: new Set(), names: new Set() };
    runtimes.add(report.runtime);
    names.add(name.replace(' [Conformance]', '').replaceAll('|', '\\|'));
    reasons.set(key, { runtimes, names });
  }
console.log('');
row('why', 'where', 'cases');
row('---', '---', '---');
for (const [why, { runtimes, names }] of reasons) row(why, [...runtimes].join(', '), [...names].join('<br>'));
