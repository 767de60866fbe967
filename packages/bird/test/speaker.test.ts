import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { silentLog } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import type { BgpView } from '../src/contract.js';
import { createBgpSpeaker } from '../src/speaker.js';

const view: BgpView = {
  node: 'n1',
  asn: 64_512,
  routerId: '192.0.2.10',
  ipv4: '192.0.2.10',
  neighbours: [],
  announced: ['10.244.0.0/26'],
  pools: ['10.244.0.0/16'],
};
const other: BgpView = { ...view, announced: ['10.244.0.64/26'] };

/** A daemon that does what it is told, and answers as long as it is not told to be mute. */
async function startDaemon(socketFile: string): Promise<{ readonly took: string[]; isMute: boolean }> {
  const daemon = { took: [] as string[], isMute: false };
  const server = net.createServer((socket) => {
    socket.write('0001 BIRD 2.0.12 ready.\n');
    socket.on('data', (text) => {
      const [, file] = /^configure "(.*)"/.exec(text.toString()) ?? [];
      if (file !== undefined) daemon.took.push(fs.readFileSync(file, 'utf8'));
      if (file === undefined || !daemon.isMute) socket.write('0003 Reconfigured\n');
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(socketFile, resolve));
  onTestFinished(() => void server.close());
  return daemon;
}

test('a daemon that has taken a view without saying so is told again of the one before', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-speaker-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const [configFile, socketFile] = ['bird.conf', 'bird.ctl'].map((name) => path.join(directory, name));
  const daemon = await startDaemon(socketFile!);
  const speaker = createBgpSpeaker({
    configFile: configFile!,
    socketFile: socketFile!,
    deadline: 200,
    log: silentLog,
  });
  await speaker.apply(view);
  daemon.isMute = true;
  await expect(speaker.apply(other)).rejects.toMatchObject({ code: 'BGP_REFUSED' });
  daemon.isMute = false;
  await speaker.apply(view);
  expect(daemon.took.at(-1)).toContain('route 10.244.0.0/26 blackhole');
  expect(daemon.took).toHaveLength(3);
});
