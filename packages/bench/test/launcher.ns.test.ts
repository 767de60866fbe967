import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, previousOutput, type Step } from '@podwire/bench';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'launch' });
});
after(() => host.close());

const step = (program: string, input = '', environment: Record<string, string> = {}): Step => ({
  program,
  input,
  environment,
});

test('the output of a step goes into the input of the next', async () => {
  const chain = [
    step('/bin/cat', 'a'),
    step('/bin/cat', `<${previousOutput}>`),
    step('/bin/cat', `ü${previousOutput}!`),
  ];
  const [result] = await launch(host.namespace, 1, [chain]);
  assert.equal(result?.status, 0);
  assert.equal(result.output, 'ü<a>!');
  assert.equal(result.steps.length, 3);
  assert.ok(result.steps.every((time) => time > 0));
  assert.ok(result.end - result.start >= result.steps.reduce((sum, time) => sum + time, 0));
});

test('a program gets the environment that it is given and no other', async () => {
  const [result] = await launch(host.namespace, 1, [
    [step('/usr/bin/env', '', { CNI_COMMAND: 'ADD', A: 'b c' })],
  ]);
  assert.equal(result?.output, 'CNI_COMMAND=ADD\nA=b c\n');
});

test('a failing step ends its job, with what it said, and no other job', async () => {
  const jobs = [[step('/usr/bin/expr'), step('/bin/cat', 'never')], [step('/bin/cat', 'fine')]];
  const [bad, good] = await launch(host.namespace, 2, jobs);
  assert.equal(bad?.status, 2);
  assert.match(bad.error, /missing operand/);
  assert.equal(bad.output, '');
  assert.equal(good?.output, 'fine');
});

test('a signal is a status above 128', async () => {
  const [result] = await launch(host.namespace, 1, [[step('/bin/sh', 'kill -9 $$')]]);
  assert.equal(result?.status, 128 + 9);
});

test('jobs run at once, as many as there are workers', async () => {
  // Opening a FIFO waits until a process opens its other end.
  const fifo = `${host.directory}/meeting`;
  await host.run(['mkfifo', fifo]);
  const reader = [step('/bin/sh', `read line < ${fifo}; echo "$line"`)];
  const writer = [step('/bin/sh', `echo met > ${fifo}`)];
  const [read] = await launch(host.namespace, 2, [reader, writer]);
  assert.equal(read?.output, 'met\n');
});

test('programs run inside the namespace', async () => {
  const [result] = await launch(host.namespace, 1, [[step('/bin/sh', 'ls /proc/self/net/dev_snmp6')]]);
  assert.equal(result?.output, 'lo\n');
});
