/** `kill -9` at one occurrence after the other, each time followed by a restart and a look at everything. */
import assert from 'node:assert/strict';
import { assertSameSnapshot, diffSnapshots, type Snapshot, type TestNamespace } from '@podwire/testkit';
import { type CniCall, networkName } from './calls.js';
import { type FaultHost, inCase, leasesOf, tinyPoolSize, untilDead } from './fault-host.js';
import type { Occurrence } from '@podwire/testkit/fault-injection';

/** An attachment that the matrix makes again and again, always with the same MAC and addresses. */
export interface Subject {
  readonly pod: TestNamespace;
  readonly key: string;
  readonly addresses: readonly string[];
  readonly add: CniCall;
  /** DEL of the same. */
  readonly del: CniCall;
  /** Packets reach the pod in every way that was asked for. */
  checkTraffic(): Promise<void>;
}

/** The same host in three states. Files are the records. */
export interface Pictures {
  /** An agent that has just started. */
  readonly idle: Snapshot;
  /** With the subject there. */
  readonly there: Snapshot;
  /** After it was there: the node keeps a block that it has claimed until it starts again without any endpoint in it. */
  readonly used: Snapshot;
}

/** Record of a healthy ADD and DEL of the subject: the occurrences they pass, and the state of the host. */
export interface Recording {
  /** The first ADD in a block, which also puts the block's routes in occurrence. */
  readonly firstAdd: readonly Occurrence[];
  readonly add: readonly Occurrence[];
  readonly del: readonly Occurrence[];
  readonly pictures: Pictures;
}

/** `apply:3:route`, or `apply:end (2)` for its second time. */
export const describeOccurrence = ({ point, skip }: Occurrence): string =>
  skip === 0 ? point : `${point} (${skip + 1})`;

/**
 * Differences between two lives: a record has the time of its ADD in it, and the kernel makes up an ifb's MAC address
 * and with it its link-local one. CHECK looks at these.
 */
const madeUp = ['files', /^(links|addresses|routes)\/.*\bpwi/];

/** Runs the subject's life without faults. */
export async function record(faults: FaultHost, subject: Subject): Promise<Recording> {
  await prepareBlocks(faults, subject, false);
  const idle = await faults.snapshot(subject.pod);
  const first = await recordLife(faults, subject);
  const again = await recordLife(faults, subject);
  assertSameSnapshot(first.there, again.there, { ignore: madeUp });
  assertSameSnapshot(first.after, again.after);
  assert.deepEqual(
    diffSnapshots(idle, again.after).filter((line) => !/^\+ routes\/blackhole /.test(line)),
    [],
  );
  await startAnew(faults);
  assertSameSnapshot(idle, await faults.snapshot(subject.pod));
  const pictures = { idle, there: again.there, used: again.after };
  return { firstAdd: first.add, add: again.add, del: again.del, pictures };
}

async function recordLife(faults: FaultHost, subject: Subject) {
  const { injector } = faults;
  injector.clear();
  await faults.succeed(subject.add);
  const add = injector.occurrences();
  await subject.checkTraffic();
  const there = await faults.snapshot(subject.pod);
  injector.clear();
  await faults.succeed(subject.del);
  await injector.reached('deferred:end');
  return { add, there, del: injector.occurrences(), after: await faults.snapshot(subject.pod) };
}

async function startAnew(faults: FaultHost): Promise<void> {
  await faults.agent.stop();
  await faults.restart();
}

async function holdsBlocks({ api }: FaultHost): Promise<boolean> {
  const { networks } = await api.status();
  return networks.some(({ name, blocks }) => name === networkName && blocks.length > 0);
}

/** An agent with or without a block at hand, so that the next ADD goes through the occurrences that were recorded. */
export async function prepareBlocks(faults: FaultHost, subject: Subject, wanted: boolean): Promise<void> {
  if ((await holdsBlocks(faults)) === wanted) return;
  if (!wanted) return startAnew(faults);
  await faults.succeed(subject.add);
  await faults.succeed(subject.del);
  await faults.settle();
}

/** Kills the agent at a occurrence of `call`, starts it again, and says whether the runtime had got its answer. */
async function killDuring(
  faults: FaultHost,
  occurrence: Occurrence,
  call: CniCall,
): Promise<{ answered: boolean }> {
  const { injector, agent } = faults;
  injector.clear();
  injector.inject({ ...occurrence, signal: 'SIGKILL' });
  const answer = await faults.call(call);
  assert.equal((await untilDead(agent)).signal, 'SIGKILL');
  assert.equal(injector.isPending(), false, 'the agent died elsewhere');
  if (!answer.ok) assert.equal(answer.json.code, 11, answer.body);
  await faults.restart();
  return { answered: answer.ok };
}

/** The phase in which the agent has the subject. */
async function phaseOf({ api }: FaultHost, { key }: Subject): Promise<string | undefined> {
  return (await api.endpoints()).find((endpoint) => endpoint.key === key)?.phase;
}

/** Fully there: record, leases, every resource, and packets. */
export async function assertThere(faults: FaultHost, subject: Subject, { there }: Pictures): Promise<void> {
  assert.equal(await phaseOf(faults, subject), 'ready');
  assert.deepEqual(await leasesOf(faults.api, subject.key), [...subject.addresses].sort());
  await subject.checkTraffic();
  assertSameSnapshot(there, await faults.snapshot(subject.pod), { ignore: madeUp });
  const prevResult = await faults.api.answerOf(subject.key);
  await faults.succeed({ ...subject.add, command: 'CHECK', config: { ...subject.add.config, prevResult } });
}

/** Fully gone: no record, no lease, and the host as it was. */
export async function assertGone(
  faults: FaultHost,
  subject: Subject,
  { idle, used }: Pictures,
): Promise<void> {
  assert.equal(await phaseOf(faults, subject), undefined);
  assert.deepEqual(await leasesOf(faults.api, subject.key), []);
  const picture = (await holdsBlocks(faults)) ? used : idle;
  assertSameSnapshot(picture, await faults.snapshot(subject.pod));
}

/** The runtime's own DEL after a failure; a running agent deletes the link moments later. Twice is no error. */
async function clean(faults: FaultHost, subject: Subject): Promise<void> {
  await faults.succeed(subject.del);
  await faults.settle();
  await faults.succeed(subject.del);
}

/** An ADD, DEL or GC of the subject in which the agent dies. */
export interface DeadlyCall {
  readonly occurrence: Occurrence;
  readonly call: CniCall;
  readonly pictures: Pictures;
}

/** One case of the matrix: death, restart, all or nothing, then the runtime cleans up and nothing is left. */
export async function killAt(
  faults: FaultHost,
  subject: Subject,
  { occurrence, call, pictures }: DeadlyCall,
): Promise<void> {
  await inCase(`kill -9 at ${describeOccurrence(occurrence)} of ${call.command}`, faults, async () => {
    const { answered } = await killDuring(faults, occurrence, call);
    const isThere = (await phaseOf(faults, subject)) !== undefined;
    if (answered) assert.equal(isThere, call.command === 'ADD', 'the answer was a promise');
    if (isThere) await assertThere(faults, subject, pictures);
    else await assertGone(faults, subject, pictures);
    await clean(faults, subject);
    await assertGone(faults, subject, pictures);
  });
}

/** Takes every address that is left, and finds no fewer and none twice. */
export async function assertPoolWhole(faults: FaultHost, pod: TestNamespace): Promise<void> {
  const wanted = Array.from({ length: tinyPoolSize }, (_, index) => index);
  const call = (command: string, index: number): CniCall => ({
    command,
    id: `filler${index}`,
    ifName: `fill${index}`,
    netns: pod.path,
  });
  const before = await faults.api.pools();
  const answers = [];
  for (const index of wanted) answers.push(await faults.callOverSocket(call('ADD', index)));
  const addresses = answers.flatMap(({ json }) => (json.ips ?? []).map(({ address }) => address));
  assert.equal(new Set(addresses).size, 2 * tinyPoolSize, answers.map(({ body }) => body).join('\n'));
  const full = await faults.callOverSocket(call('ADD', tinyPoolSize));
  assert.equal(full.json.code, 11, full.body);
  for (const index of wanted) await faults.callOverSocket(call('DEL', index));
  await faults.settle();
  assert.deepEqual(await faults.api.pools(), before);
}
