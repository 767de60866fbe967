/** Plugins that hang or fail in the middle of a chain: nothing of their pod is left, and it comes up when they are well again. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { PodView } from '@podwire/podlet';
import type { PrivateHost } from '@podwire/testkit';
import { webPod } from './support/manifests.js';
import { createPodMachine, type PodMachine } from './support/pod-machine.js';
import type { Paths } from './support/paths.js';

let machine: PodMachine;
before(async () => {
  machine = await createPodMachine({ name: 'plg', networkTimeoutMs: 2_000, chain: installPlugin });
});
afterEach(async () => {
  // Also where a test has failed: the next one's plugin is well at first.
  for (const mood of ['fail', 'hang']) fs.rmSync(at(mood), { force: true });
  await machine.assertNothingLeft();
});
after(() => machine.close());

const at = (name: string): string => path.join(machine.host.directory, name);

/**
 * Passes on what came before it. While the file `fail` is there it fails in ADD; while `hang` is there it takes a lock and
 * hangs, together with a child of its own that holds the lock as well. Writes down its calls.
 */
function installPlugin(host: PrivateHost, { binDir }: Paths): readonly object[] {
  const at = (name: string): string => path.join(host.directory, name);
  const text = `#!/bin/sh
INPUT=$(cat)
case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}'; exit ;;
esac
echo "$CNI_COMMAND $CNI_CONTAINERID" >> ${at('calls')}
if [ $CNI_COMMAND = ADD ] && [ -e ${at('fail')} ]; then
  echo '{"cniVersion":"1.0.0","code":11,"msg":"not now, says the test"}'
  exit 1
fi
if [ $CNI_COMMAND = ADD ] && [ -e ${at('hang')} ]; then
  exec 9> ${at('lock')}
  flock 9
  ${at('sleeper')} 100000 &
  wait
fi
[ $CNI_COMMAND = ADD ] && printf '%s' "$INPUT" | ${JSON.stringify(process.execPath)} -e '
  let s = ""; process.stdin.on("data", (d) => (s += d)).on("end", () => console.log(JSON.stringify(JSON.parse(s).prevResult)))'
exit 0
`;
  fs.writeFileSync(path.join(binDir, 'second'), text, { mode: 0o755 });
  // Under a name by which it is found when it is left behind.
  fs.symlinkSync('/bin/sleep', at('sleeper'));
  return [{ type: 'second' }];
}

const links = async (): Promise<string[]> => {
  const rows = JSON.parse(await machine.host.run(['ip', '-j', 'link'])) as { ifname: string }[];
  return rows.map(({ ifname }) => ifname).filter((name) => !['lo', 'cni0'].includes(name));
};
const calls = (): string[] => fs.readFileSync(at('calls'), 'utf8').trim().split('\n');
const hasSaid = (pattern: RegExp, [one]: readonly PodView[]): boolean =>
  one?.events.some(({ message }) => pattern.test(message)) === true;

test('the second plugin of the chain fails: what the first has done is taken back', async () => {
  fs.writeFileSync(at('fail'), '');
  fs.rmSync(at('calls'));
  machine.write('web.json', webPod('web'));
  await machine.until('it is told', (pods) => hasSaid(/second.*not now, says the test/, pods));
  await machine.until('why it waits', ([one]) => {
    const condition = one?.status.conditions.find(({ type }) => type === 'PodReadyToStartContainers');
    return one?.status.phase === 'Pending' && condition?.status === 'False';
  });
  fs.rmSync(at('fail'));
  const { status } = await machine.untilServing('web');
  assert.deepEqual(await machine.addresses(), [status.podIP]);
  assert.equal((await links()).length, 1);
  const failed = calls()
    .filter((call) => call.startsWith('ADD '))[0]
    ?.slice(4);
  assert.ok(calls().includes(`DEL ${failed}`), 'the failed ADD was followed by a DEL');
  machine.drop('web.json');
  await machine.untilGone();
});

test('a pod that never came to be leaves nothing when it is taken back', async () => {
  fs.writeFileSync(at('fail'), '');
  machine.write('web.json', webPod('web'));
  await machine.until('it is told', (pods) => hasSaid(/not now, says the test/, pods));
  machine.drop('web.json');
  await machine.untilGone();
  fs.rmSync(at('fail'));
});

test('a plugin hangs with a child that holds a lock: both are ended, the lock is free, the pod comes up later', async () => {
  fs.writeFileSync(at('hang'), '');
  machine.write('web.json', webPod('web'));
  await machine.until('it is told', (pods) => hasSaid(/deadline|time/i, pods));
  fs.rmSync(at('hang'));
  // Free at once, or not at all: the child would hold it for a day.
  execFileSync('flock', ['--wait', '30', at('lock'), 'true']);
  await machine.untilServing('web');
  assert.equal((await machine.addresses()).length, 1);
  assert.equal((await links()).length, 1);
  machine.drop('web.json');
  await machine.untilGone();
});
