/** Logs of a real engine as the service writes them: terminals without line breaks, and rotated logs. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerConfig, ContainerState } from '@podwire/cri';
import { createLogPrinter, readContainerLog, rotatedName } from '@podwire/cri/logs';
import { busyboxImage } from '@podwire/testkit/containerd';
import { eventually } from '@podwire/testkit';
import { createSandboxHost, podConfig, type SandboxHost } from './support/harness.js';

let machine: SandboxHost;
before(async () => {
  machine = await createSandboxHost({ name: 'logs' });
});
after(() => machine.close());

interface Running {
  readonly containerId: string;
  readonly file: string;
  readonly remove: () => Promise<void>;
}

async function start(name: string, script: string, tty: boolean): Promise<Running> {
  const { cri, host } = machine;
  const config = podConfig(name, { logDirectory: path.join(host.directory, 'logs', name) });
  const { podSandboxId } = await cri.runPodSandbox({ config, runtimeHandler: '' });
  const { containerId } = await cri.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: ContainerConfig.fromPartial({
      metadata: { name: 'main', attempt: 0 },
      image: { image: busyboxImage },
      command: ['/bin/sh', '-c', script],
      logPath: 'main/0.log',
      tty,
    }),
  });
  await cri.startContainer({ containerId });
  const remove = async (): Promise<void> => {
    await cri.stopPodSandbox({ podSandboxId });
    await cri.removePodSandbox({ podSandboxId });
  };
  return { containerId, file: path.join(host.directory, 'logs', name, 'main', '0.log'), remove };
}

async function untilExited(containerId: string): Promise<void> {
  await eventually(`the end of ${containerId}`, async () => {
    const { status } = await machine.cri.containerStatus({ containerId, verbose: false });
    return status?.state === ContainerState.CONTAINER_EXITED;
  });
}

async function read(file: string): Promise<{ text: string; longest: number }> {
  const print = createLogPrinter();
  const parts: Buffer[] = [];
  let longest = 0;
  for await (const entry of readContainerLog(file)) {
    parts.push(print(entry));
    longest = Math.max(longest, entry.content.length);
  }
  return { text: Buffer.concat(parts).toString(), longest };
}

test('long lines of a terminal are in parts of 16 KiB, and have no times of the engine in their text', async () => {
  const script =
    'head -c 40000 /dev/zero | tr "\\0" a; echo; head -c 1000000 /dev/zero | tr "\\0" b; echo; ' +
    'i=0; while [ $i -lt 9001 ]; do printf ü; i=$((i+1)); done; echo; echo end';
  const { containerId, file, remove } = await start('terminal', script, true);
  await untilExited(containerId);
  const { text, longest } = await read(file);
  assert.equal(longest, 16_384);
  const [first, second, third, ...rest] = text.split('\r\n');
  assert.deepEqual([first?.length, second?.length], [40_000, 1_000_000]);
  assert.match(`${first}${second}`, /^a{40000}b{1000000}$/);
  // Docker cuts at bytes and replaces what is half a character then.
  assert.match(third ?? '', /^[ü\ufffd]+$/);
  assert.deepEqual(rest, ['end', '']);
  await remove();
});

test('a log that is rotated as soon and as often as can be loses nothing', async () => {
  const script = 'i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; echo last';
  const { containerId, file, remove } = await start('rotated', script, false);
  for (let rotation = 0; rotation < 5; rotation += 1) {
    fs.renameSync(file, rotatedName(file, Date.UTC(2026, 0, 1, 0, 0, rotation)));
    try {
      await machine.cri.reopenContainerLog({ containerId });
    } catch {
      break; // it has ended
    }
  }
  await untilExited(containerId);
  const lines = (await read(file)).text.trimEnd().split('\n');
  assert.equal(lines.pop(), 'last');
  assert.deepEqual(
    lines.map(Number),
    Array.from({ length: 3000 }, (_, index) => index),
  );
  await remove();
});
