#!/usr/bin/env node
/**
 * Runs critest of cri-tools against a CRI server in a machine of its own, and tells what passed, what failed and what
 * was left out and why. Not part of `npm test`: Debian has no critest.
 *
 *   PODWIRE_CRITEST=FILE node scripts/critest/run.mjs [--runtime docker|embedded|containerd]
 *       [--network podwire|debian] [--focus PATTERN] [--report FILE]
 *
 * `--report` takes the results as JSON. The exit code is 0 when every case that ran has passed but for those that
 * `cases.mjs` says fail on the server's own account.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { knownFailures, leftOut } from './cases.mjs';
import { readReport, showReport } from './report.mjs';
import { recordSharedMemory } from './shared-memory.mjs';
import { networks, servers, startServer } from './servers.mjs';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'docker' },
    network: { type: 'string', default: 'podwire' },
    focus: { type: 'string' },
    report: { type: 'string' },
  },
});
const critest = process.env.PODWIRE_CRITEST ?? '';
const mistake = findMistake();
if (mistake !== undefined) {
  console.error(mistake);
  process.exit(2);
}

function findMistake() {
  if (process.getuid() !== 0) return 'critest needs root';
  if (!fs.existsSync(critest))
    return 'PODWIRE_CRITEST must say where critest is; CONTRIBUTING.md tells how to build it';
  if (!Object.hasOwn(servers, values.runtime))
    return `--runtime is one of ${Object.keys(servers).join(', ')}`;
  if (!Object.hasOwn(networks, values.network))
    return `--network is one of ${Object.keys(networks).join(', ')}`;
}

async function runCritest({ host, endpoint, imageEndpoint = endpoint }) {
  const report = path.join(host.directory, 'report.json');
  const scratch = path.join(host.directory, 'scratch');
  fs.mkdirSync(scratch);
  const skip = leftOut(values.runtime).map(({ pattern }) => ['--ginkgo.skip', pattern.source]);
  const focus = values.focus === undefined ? [] : ['--ginkgo.focus', values.focus];
  const words = ['--ginkgo.no-color', '--ginkgo.json-report', report];
  const endpoints = ['-runtime-endpoint', endpoint, '-image-endpoint', imageEndpoint];
  const memory = recordSharedMemory(host.directory);
  // Its temporary directories become mounts of containers, so they are where the host's own are taken away.
  const env = { ...process.env, TMPDIR: scratch, PATH: `${memory.directory}:${process.env.PATH}` };
  const running = host.start([critest, ...words, ...endpoints, ...skip.flat(), ...focus], { env });
  running.child.stdout.on('data', (chunk) => process.stderr.write(chunk));
  await running.exited;
  memory.remove();
  return readReport(JSON.parse(fs.readFileSync(report, 'utf8')));
}

const server = await startServer(values.runtime, values.network);
try {
  const { runtime, network } = values;
  const known = knownFailures(runtime);
  const outcomes = (await runCritest(server)).map((each) => explain(each, known, leftOut(runtime)));
  const isOutside = ({ state, why }) =>
    state === 'skipped' && why === undefined && values.focus !== undefined;
  const results = outcomes.filter((each) => !isOutside(each));
  showReport(results);
  const text = JSON.stringify({ runtime, network, results }, undefined, 2);
  if (values.report !== undefined) fs.writeFileSync(values.report, `${text}\n`);
  const wrong = results.filter(({ state, why }) => state === 'failed' && why === undefined);
  if (wrong.length > 0) fs.writeSync(2, `${server.log()}\n`);
  process.exitCode = wrong.length === 0 && results.some(({ state }) => state === 'passed') ? 0 : 1;
} finally {
  await server.host.close();
}

/** Puts the reason beside a case that did not pass, where there is one. */
function explain(result, known, left) {
  const from = { failed: known, skipped: left }[result.state] ?? [];
  const found = from.find(({ pattern }) => pattern.test(result.name));
  return found === undefined ? result : { ...result, why: found.why };
}
