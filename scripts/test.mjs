#!/usr/bin/env node
/**
 * The test runner behind `npm test`: lint, unit and property tests, namespace tests, tests with real servers, and a
 * comparison of the machine's network before and after.
 *
 *   node scripts/test.mjs [--only lint|unit|ns|system|kubernetes] [--quick|--long] [--grep PATTERN] [FILE…]
 *   node scripts/test.mjs --times N [--load N] FILE…
 *
 * FILE is any part of a test file's path. `lint` and `unit` need neither root nor a build. `--quick` leaves out unit
 * tests with the tag `long`, and does a tenth of the runs of each property; `--long` lets tests that are samples
 * otherwise do everything (PODWIRE_TEST_LONG=1).
 *
 * ESLint and prettier run beside the tests that need root, with the lowest priority: those wait for other programs most of their
 * time. Namespace tests, real servers and Kubernetes (once it is built) share one queue, the longest files first.
 *
 * A file that failed is run once more, alone, after all others. If it passes then, it counts as passed and is listed as
 * flaky; too many flaky files are a failure. With `--times`, files are run again and again, beside `--load` busy loops,
 * and the rate of failures is printed.
 *
 * The last line is `N passed, N failed`; the exit code is 0 only when at least one test passed and none failed.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildKubernetes, isKubernetesBuilt, kubernetesDirectory } from './kubernetes/build.mjs';
import { missingPackages, packagesFor } from './setup/debian.mjs';
import { SetupError } from './setup/show.mjs';
import { checkAftermath } from './test/aftermath.mjs';
import { bundlePrograms } from './test/bundles.mjs';
import { endAllGroups, forEachBounded } from './test/children.mjs';
import { limitFlaky, runFailedAgain } from './test/flaky.mjs';
import { runLint, runSlowChecksBeside, runTextChecks } from './test/lint.mjs';
import { takeMachineState } from './test/machine.mjs';
import { findTests, listNodeFiles, withoutEmpty } from './test/node-files.mjs';
import { removeUnlessMounted } from './test/remove.mjs';
import { repeat, showRates } from './test/repeat.mjs';
import { showPhase, showResult, showSummary, totalOf } from './test/show.mjs';
import { runUnit } from './test/unit.mjs';

const root = path.resolve(import.meta.dirname, '..');
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-'));
process.on('exit', () => removeUnlessMounted(temporary));

const phases = {
  lint: ['Lint', runLint],
  unit: ['Unit and property tests', runUnit],
  ns: ['Namespace tests', (context) => runTogether(['ns'], context)],
  system: ['Real servers', (context) => runTogether(['system'], context)],
  kubernetes: ['The real Kubernetes', runKubernetes],
};

/** Phases that run without root and cannot change the machine. */
const harmless = new Set(['lint', 'unit']);

/** As many files at once as keep two processors busy: tests wait for other programs most of their time. */
const width = 3;

/** Phases as one, so that the processors have work until all of them are over. */
async function runTogether(kinds, context) {
  const files = listNodeFiles(
    kinds.filter((kind) => kind !== 'kubernetes'),
    context,
  );
  const jobs = files.map((run) => async () => [await run()]);
  if (kinds.includes('kubernetes')) jobs.unshift(() => runKubernetes(context));
  const results = (await forEachBounded(jobs, width, (job) => job())).flat();
  const rank = ({ phase }) => kinds.indexOf(phase);
  const sorted = results.sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1));
  return withoutEmpty(sorted, context.grep);
}

/** Builds the Kubernetes programs first where they are missing: five minutes, once for each machine. */
async function runKubernetes(context) {
  if (findTests(root, '.kubernetes.test.ts', context.files).length === 0) return [];
  const begin = (text) => console.log(`… ${text}`);
  const since = performance.now();
  try {
    console.log(`✓ kube-apiserver and kubelet ${await buildKubernetes(begin)}`);
  } catch (error) {
    // The phases before this one still count.
    const seconds = (performance.now() - since) / 1000;
    const counts = { passed: 0, failed: 1, skipped: 0, seconds };
    const result = {
      phase: 'kubernetes',
      name: 'building kube-apiserver and kubelet',
      ...counts,
      output: error.message,
    };
    showResult(result);
    return [result];
  }
  const env = { ...context.env, PODWIRE_KUBERNETES: kubernetesDirectory };
  const results = [];
  // One after the other: each has a whole cluster.
  for (const run of listNodeFiles(['kubernetes'], { ...context, env, seconds: 600 }))
    results.push(await run());
  return withoutEmpty(results, context.grep);
}

function readOptions() {
  const { values, positionals } = parseArgs({
    options: {
      ...{ only: { type: 'string' }, grep: { type: 'string' } },
      ...{ quick: { type: 'boolean' }, long: { type: 'boolean' } },
      ...{ times: { type: 'string' }, load: { type: 'string' } },
    },
    allowPositionals: true,
  });
  if (values.only !== undefined && !Object.hasOwn(phases, values.only))
    throw new SetupError(`--only knows ${Object.keys(phases).join(', ')}, not ${values.only}`);
  const times = values.times === undefined ? undefined : readCount('--times', values.times, 1);
  const load = readCount('--load', values.load ?? '0', 0);
  if (times !== undefined && positionals.length === 0)
    throw new SetupError('--times runs the files that are named; name one');
  const isNarrowed = values.grep !== undefined || positionals.length > 0;
  const all = Object.keys(phases).filter((name) => name !== 'lint' || !isNarrowed);
  const names = values.only === undefined ? all : [values.only];
  const { grep, quick = false, long = false } = values;
  return { names, grep, quick, long, times, load, files: positionals };
}

function readCount(option, text, least) {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < least)
    throw new SetupError(`${option} is a whole number from ${least}, not ${text}`);
  return count;
}

/** Network namespaces need root. A missing Debian package is reported with the command that installs it. */
async function checkPrerequisites() {
  if (process.getuid() !== 0)
    throw new SetupError(
      'these tests create network namespaces and need root; without root: npm run test:unit',
    );
  const missing = await missingPackages(packagesFor.test);
  if (missing?.length > 0)
    throw new SetupError(`packages are missing; run: apt-get install ${missing.join(' ')}`);
}

async function runPhases({ names, grep, quick, long, times, load, files }) {
  const scratch = path.join(temporary, 't');
  fs.mkdirSync(scratch);
  const mark = `PODWIRE_TEST_RUN=${process.pid}-${Date.now()}`;
  const [name, value] = mark.split('=');
  const env = { [name]: value, TMPDIR: scratch, ...(long ? { PODWIRE_TEST_LONG: '1' } : {}) };
  // For one file of a phase.
  const seconds = long ? 1_800 : 600;
  const context = { root, grep, quick, files, temporary, env, seconds };
  const touchesMachine = names.some((each) => !harmless.has(each));
  if (touchesMachine) await checkPrerequisites();
  if (touchesMachine) Object.assign(env, await bundlePrograms(root));
  const before = touchesMachine ? takeMachineState() : undefined;
  const results =
    times === undefined
      ? await runOnce(names, context)
      : await runRepeatedly(names, context, { times, load });
  // Comparing the machine alone is not a test run.
  if (before === undefined || results.length === 0) return results;
  showPhase('The machine afterwards');
  return [...results, ...(await checkAftermath(before, { mark, temporary: scratch }))];
}

async function runOnce(names, context) {
  const results = [];
  const together = names.filter(
    (name) => !harmless.has(name) && (name !== 'kubernetes' || isKubernetesBuilt()),
  );
  const isBeside = names.includes('lint') && together.length > 0;
  let slowChecks = Promise.resolve([]);
  for (const each of names.filter((name) => !together.includes(name) || name === together[0])) {
    const isQueue = each === together[0];
    const [title, run] = phases[each];
    showPhase(isQueue ? together.map((name) => phases[name][0]).join(', ') : title);
    if (isQueue && isBeside) {
      slowChecks = runSlowChecksBeside(context);
      // Awaited below; a phase that fails meanwhile must not make it an unhandled rejection.
      slowChecks.catch(() => {});
    }
    if (isQueue) results.push(...(await runTogether(together, context)));
    else results.push(...(await (each === 'lint' && isBeside ? runTextChecks(context) : run(context))));
  }
  results.push(...(await slowChecks));
  let isFirst = true;
  const again = await runFailedAgain(results, async ({ phase, name }) => {
    if (isFirst) showPhase('Failed files once more, alone');
    isFirst = false;
    const [, run] = phases[phase];
    const second = await run({ ...context, files: [name] });
    return second.find((result) => result.name === name);
  });
  return [...again, ...limitFlaky(again)];
}

async function runRepeatedly(names, context, { times, load }) {
  const runs = await repeat(times, load, async () => {
    const results = [];
    for (const each of names) {
      const [, run] = phases[each];
      results.push(...(await run(context)));
    }
    return results;
  });
  showRates(runs);
  return runs.flat();
}

async function runAll() {
  try {
    return await runPhases(readOptions());
  } catch (error) {
    const isClear = error instanceof SetupError || error.code?.startsWith('ERR_PARSE_ARGS');
    const counts = { passed: 0, failed: 1, skipped: 0, seconds: 0 };
    const output = isClear ? error.message : error.stack;
    const result = { phase: 'runner', name: 'the test runner', ...counts, output };
    showResult(result);
    return [result];
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    endAllGroups();
    process.exit(130);
  });

const results = await runAll();
showSummary(results);
const { passed, failed } = totalOf(results);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
