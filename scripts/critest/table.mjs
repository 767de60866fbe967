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

const reasons = new Map();
for (const report of reports)
  for (const { name, state, why } of casesOf(report).filter((each) => each.state !== 'passed')) {
    const key = `${name.replace(' [Conformance]', '')} | ${state === 'failed' ? 'failed' : 'left out'}: ${why ?? 'by critest itself'}`;
    reasons.set(key, new Set([...(reasons.get(key) ?? []), report.runtime]));
  }
console.log('');
row('case', 'why', 'where');
row('---', '---', '---');
for (const [key, runtimes] of reasons) row(key, [...runtimes].join(', '));
