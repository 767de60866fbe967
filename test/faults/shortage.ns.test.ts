/** Shortages of the agent: no space for records, an nft that refuses or hangs. A clear error, and nothing is lost. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { type Agent, assertSameSnapshot, type Snapshot, type TestNamespace } from '@podwire/testkit';
import { networkName } from './support/calls.js';
import { createFaultHost, type FaultHost, leasesOf, tinyPools } from './support/fault-host.js';
import { assertPoolWhole, type Subject } from './support/matrix.js';
import { addPod, createFullSubject, createFurtherSubject } from './support/subjects.js';
import { mountTinyFileSystem, type TinyFileSystem } from './support/tiny-file-system.js';

describe('the file system of the records is full', () => {
  let faults: FaultHost;
  let resident: Subject;
  let newcomer: Subject;
  let files: TinyFileSystem;
  before(async () => {
    files = mountTinyFileSystem();
    faults = await createFaultHost({
      name: 'full',
      agent: { config: { ...tinyPools, stateDir: files.directory } },
    });
    resident = await createFullSubject(faults.host);
    newcomer = await createFurtherSubject(faults.host);
  });
  after(async () => {
    await faults.close().finally(() => files.unmount());
  });

  for (const what of ['bytes', 'inodes'] as const)
    test(`no ${what} left`, async () => {
      await faults.succeed(resident.add);
      await resident.checkTraffic();
      const before = await faults.snapshot(newcomer.pod);
      const release = files.exhaust(what);
      const exhausted = await faults.snapshot(newcomer.pod);
      const answer = await faults.call(newcomer.add);
      assert.equal(answer.json.code, 5, answer.body);
      assert.match(answer.json.msg ?? '', /^RECORD_IO: .*further,net1\.wiring.*ENOSPC/);
      assertSameSnapshot(exhausted, await faults.snapshot(newcomer.pod));
      assert.deepEqual(await leasesOf(faults.api, newcomer.key), []);

      const prevResult = await faults.api.answerOf(resident.key);
      const check = { ...resident.add, command: 'CHECK', config: { ...resident.add.config, prevResult } };
      await faults.succeed(check);
      await faults.agent.kill9();
      await faults.restart();
      await faults.succeed(check);

      await faults.succeed(newcomer.del);
      await faults.succeed(resident.del);
      await faults.settle();
      assert.deepEqual(await faults.api.endpoints(), []);
      assert.deepEqual(await faults.api.leases(), []);
      release();
      await faults.succeed(newcomer.add);
      await newcomer.checkTraffic();
      await faults.succeed(newcomer.del);
      await faults.succeed(resident.add);
      await faults.settle();
      assertSameSnapshot(before, await faults.snapshot(newcomer.pod), {
        ignore: ['files', /\bpwi/],
      });
      await faults.succeed(resident.del);
      await assertPoolWhole(faults, resident.pod);
    });
});

describe('the program nft', () => {
  let faults: FaultHost;
  let resident: Subject;
  let other: TestNamespace;
  let modeFile: string;
  const setNft = (mode: 'works' | 'fails' | 'hangs'): void => fs.writeFileSync(modeFile, `${mode}\n`);

  before(async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-nft-'));
    modeFile = path.join(directory, 'mode');
    setNft('works');
    writeMoodyNft(path.join(directory, 'nft'), modeFile);
    faults = await createFaultHost({
      name: 'nft',
      agent: {
        config: { ...tinyPools, deadlines: { request: '2s' } },
        env: { PATH: `${directory}:${process.env['PATH']}` },
      },
    });
    faults.host.defer(() => fs.rmSync(directory, { recursive: true }));
    resident = await createFullSubject(faults.host);
    other = await addPod(faults.host, 'other');
    await faults.succeed(resident.add);
    await resident.checkTraffic();
    const call = { id: 'other', netns: other.path } as const;
    await faults.succeed({ ...call, command: 'ADD' });
    await faults.succeed({ ...call, command: 'DEL' });
    await faults.settle();
  });
  after(() => faults.close());

  /** Reason given for a table that must be written in each `mode`. */
  const reasons = {
    fails: /nftables table inet podwire: nft -f -: ENOMEM \(Could not process rule: Cannot allocate memory\)/,
    hangs: /nftables table inet podwire: nft -f -: ETIMEDOUT \(no end after 2000 ms\)/,
  } as const;
  const modes = ['fails', 'hangs'] as const;
  const picture = (): Promise<Snapshot> => faults.snapshot(resident.pod, other);
  const loseTable = (): Promise<string> => faults.host.run(['nft', 'delete', 'table', 'inet', 'podwire']);

  /** Not ready, and all answers say why; existing endpoints can still be removed. */
  async function assertInTrouble(mode: 'fails' | 'hangs'): Promise<void> {
    const { ready, problem } = await faults.api.status();
    assert.equal(ready, false);
    assert.match(problem ?? '', reasons[mode]);
    assert.equal(await faults.api.statusOf('/readyz'), 503);
    assert.equal(await faults.api.statusOf('/healthz'), 200);
    const hasPods = (await faults.api.endpoints()).length > 0;
    for (const [command, code] of [
      // CNI specification 1.1.0, STATUS: 51 where containers that run may have limited connectivity.
      ['STATUS', hasPods ? 51 : 50],
      ['ADD', 11],
    ] as const) {
      const answer = await faults.call({ command, id: 'other', netns: other.path });
      assert.equal(answer.json.code, code, answer.body);
      assert.match(answer.json.msg ?? '', reasons[mode]);
    }
    assert.deepEqual(await leasesOf(faults.api, `${networkName},other,eth0`), []);
  }

  async function assertRecovered(atRest: Snapshot): Promise<void> {
    await faults.succeed({ command: 'STATUS' });
    assert.equal(await faults.api.statusOf('/readyz'), 200);
    // The table that was made anew has other handles, which its seal knows.
    assertSameSnapshot(atRest, await picture(), { ignore: [/structure_seal$/] });
    assert.deepEqual(await faults.api.drift('node'), []);
    const call = { id: 'other', netns: other.path } as const;
    await faults.succeed({ ...call, command: 'ADD' });
    await faults.succeed({ ...call, command: 'DEL' });
    await faults.settle();
  }

  for (const mode of modes)
    test(`${mode} when the agent starts`, async () => {
      const atRest = await picture();
      await faults.agent.kill9();
      await loseTable();
      setNft(mode);
      const logged = faults.agent.log().length;
      const started = faults.agent.start();
      started.catch(() => undefined); // where the test fails before it waits for this
      await untilLogged(faults.agent, logged, /reconciled with failures/);
      await assertInTrouble(mode);
      setNft('works');
      await started; // by itself, soon
      await resident.checkTraffic();
      await assertRecovered(atRest);
    });

  for (const mode of modes)
    test(`${mode} when the table of a running agent was deleted`, async () => {
      const atRest = await picture();
      await loseTable();
      setNft(mode);
      assert.match((await faults.api.reconcile()).failures.join('\n'), reasons[mode]);
      await assertInTrouble(mode);
      setNft('works');
      assert.deepEqual((await faults.api.reconcile()).failures, []);
      await resident.checkTraffic();
      await assertRecovered(atRest);
    });

  test('is not needed for what has a table', async () => {
    const atRest = await picture();
    setNft('fails');
    await faults.agent.kill9();
    await faults.restart();
    await assertRecovered(atRest);
    const prevResult = await faults.api.answerOf(resident.key);
    await faults.succeed({
      ...resident.add,
      command: 'CHECK',
      config: { ...resident.add.config, prevResult },
    });
    setNft('works');
  });

  test('fails while the last pod goes: DEL needs nothing of it', async () => {
    await loseTable();
    setNft('fails');
    await faults.api.reconcile();
    await faults.succeed(resident.del);
    await faults.settle();
    await assertInTrouble('fails');
    assert.deepEqual(await faults.api.leases(), []);
    setNft('works');
    await faults.api.reconcile();
    await assertPoolWhole(faults, resident.pod);
    const left = faults.host.processes().filter((pid) => /\bsleep\b|\bnft\b/.test(commandLine(pid)));
    assert.deepEqual(left, []);
  });
});

const commandLine = (pid: number): string => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');

/** Waits for a line in what the agent has logged after so many characters. */
async function untilLogged(agent: Agent, offset: number, line: RegExp): Promise<void> {
  const end = performance.now() + 10_000;
  while (!line.test(agent.log().slice(offset))) {
    assert.ok(performance.now() < end, `the agent does not log ${line}`);
    await setTimeout(10);
  }
}

/** An nft that does what a file says at the moment. */
function writeMoodyNft(file: string, modeFile: string): void {
  const script = `#!/bin/sh
read mode < ${modeFile}
case $mode in
  fails) echo 'Error: Could not process rule: Cannot allocate memory' >&2; exit 1 ;;
  hangs) exec /bin/sleep 1000 ;;
esac
exec /usr/sbin/nft "$@"
`;
  fs.writeFileSync(file, script, { mode: 0o755 });
}
