/** ovn-trace as a program that is there, that fails, or that is missing. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runOvnTrace } from '../../src/ovn/run-trace.js';
import { makeTemporaryDirectory } from '../temporary.js';

const flow = { datapath: 'red', expression: 'inport == "web.shop" && ip4' };

function runScript(lines: readonly string[], timeout = 10_000, signal = new AbortController().signal) {
  const directory = makeTemporaryDirectory();
  fs.writeFileSync(path.join(directory, 'ovn-trace'), ['#!/bin/sh', ...lines, ''].join('\n'), {
    mode: 0o755,
  });
  return runOvnTrace(flow, { southbound: 'tcp:192.0.2.1:6642', timeout, signal, directories: [directory] });
}

it('passes the database, the datapath and the expression as they are', async () => {
  const printing = [`echo 'ingress(dp="red", inport="web.shop")'`, `printf '%s\\n' "$@"`];
  const { text, trace } = await runScript(printing);
  expect(trace.passes).toHaveLength(1);
  const words = text.trimEnd().split('\n').slice(1);
  expect(words.slice(0, 3)).toEqual(['--detailed', '--no-leader-only', '--ct=new']);
  expect(words.slice(-4)).toEqual(['--db=tcp:192.0.2.1:6642', '--', flow.datapath, flow.expression]);
});

it.each([
  [
    'a port that the database lacks',
    ['echo "2026-11-28T04:25:23Z|00001|ovntrace|WARN|web.shop: unknown logical port" >&2', 'kill -ABRT $$'],
    'the southbound database tcp:192.0.2.1:6642 has no logical port web.shop yet',
  ],
  [
    'a switch that the database lacks',
    [`echo 'unknown datapath "red"'`],
    'ovn-trace has failed: unknown datapath "red"',
  ],
  [
    'a database that is not there',
    ['echo "ovn-trace: tcp:192.0.2.1:6642: database connection failed" >&2', 'exit 1'],
    'ovn-trace has failed: ovn-trace: tcp:192.0.2.1:6642: database connection failed',
  ],
])('says what is wrong: %s', async (_, lines, message) => {
  await expect(runScript(lines)).rejects.toMatchObject({ code: 'BACKEND_SILENT', message });
});

it('ends a program that does not answer', async () => {
  await expect(runScript(['exec sleep 60'], 100)).rejects.toMatchObject({
    code: 'BACKEND_SILENT',
    message: 'the southbound database tcp:192.0.2.1:6642 has not answered ovn-trace in time',
  });
});

it('ends with the reason of its caller', async () => {
  const reason = new Error('interrupted');
  await expect(runScript(['exec sleep 60'], 10_000, AbortSignal.abort(reason))).rejects.toBe(reason);
});

it('names the package of a program that is missing', async () => {
  const signal = new AbortController().signal;
  await expect(
    runOvnTrace(flow, { southbound: 'unix:/db', timeout: 1_000, signal, directories: [] }),
  ).rejects.toMatchObject({
    code: 'PREREQUISITE_MISSING',
    message: 'the program ovn-trace is not installed: apt-get install ovn-common',
  });
});
