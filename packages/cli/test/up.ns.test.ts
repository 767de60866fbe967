/** `podwire up` that does not come up leaves nothing behind; what comes up has logs that are rotated. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { isAlive, type ProcessMark } from '@podwire/linux';
import { CommandError, createPrivateHost, eventually, type PrivateHost } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';
import { placesIn } from '../src/pods/locate.js';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'up', world: true });
});
after(() => host?.close());

test('without a pod agent, the node agent that was started for it is ended', async () => {
  const directory = path.join(host.directory, 'pods');
  const places = placesIn(directory);
  // No process can listen there.
  fs.mkdirSync(path.join(places.podSocket, 'x'), { recursive: true });
  const argv = ['up', checkoutFile('examples/web.yaml'), '--directory', directory];
  await assert.rejects(host.run([process.execPath, checkoutFile('bin/podwire'), ...argv]), (error) => {
    assert.ok(error instanceof CommandError);
    assert.match(error.stderr, /✓ node agent started[^]*the pod agent did not start/);
    return true;
  });
  const { agent } = JSON.parse(fs.readFileSync(places.started, 'utf8')) as { agent: ProcessMark };
  assert.equal(isAlive(agent), false);
});

test('a log that is rotated is followed without loss, and of the last lines none is missing', async () => {
  const directory = path.join(host.directory, 'chatty');
  const podwire = [process.execPath, checkoutFile('bin/podwire')];
  const run = (command: string, ...argv: string[]) =>
    host.run([...podwire, command, '--directory', directory, ...argv]);
  const manifest = path.join(host.directory, 'chatty.yaml');
  // Some 2 KiB at a time, until it is told to stop: the pod agent looks at logs every ten seconds.
  const script = `i=0; while [ ! -e /stop ]; do for n in 1 2 3 4 5 6 7 8 9 0; do echo "$i ${'x'.repeat(200)}"; i=$((i+1)); done; sleep 0.2; done; echo "$i last"; sleep 1000`;
  fs.writeFileSync(
    manifest,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'chatty' } },
      spec: {
        hostNetwork: true,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'none', command: ['/bin/sh', '-c', script] }],
      },
    }),
  );
  await run('up', manifest, '--container-log-max-size', '20Ki', '--container-log-max-files', '3');
  const follower = host.start([...podwire, 'logs', 'chatty', '-f', '--directory', directory]);
  try {
    const logs = path.join(directory, 'logs');
    const [pod = ''] = fs.readdirSync(logs);
    const place = path.join(logs, pod, 'main');
    const rotated = (): string[] => fs.readdirSync(place).filter((name) => name.startsWith('0.log.'));
    await eventually('two rotations', () => rotated().some((name) => name.endsWith('.gz')), {
      timeout: 120_000,
    });
    await run('exec', 'chatty', '--', '/bin/sh', '-c', ': > /stop');
    await follower.waitForOutput(/ last\n/);
    const numberOf = (line: string): number => Number(line.split(' ')[0]);
    const numbers = follower.stdout().trimEnd().split('\n').map(numberOf);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index),
    );
    assert.equal(rotated().length, 2);
    const kept = (await run('logs', 'chatty')).trimEnd().split('\n');
    assert.deepEqual(kept.map(numberOf), numbers.slice(-kept.length));
    const tail = (await run('logs', 'chatty', '--tail', String(kept.length - 1))).trimEnd().split('\n');
    assert.deepEqual(tail.map(numberOf), numbers.slice(1 - kept.length));
  } finally {
    await follower.stop();
    await run('down');
  }
});
