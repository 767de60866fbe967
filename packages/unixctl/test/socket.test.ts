import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findControlSocket } from '@podwire/unixctl';

function makeRunDirectory(files: Readonly<Record<string, string>>): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-unixctl-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(directory, name), text);
  return directory;
}

test('finds the socket of a daemon by the file with its process id', async () => {
  const directory = makeRunDirectory({ 'ovs-vswitchd.pid': '4711\n', 'ovsdb-server.pid': '12\n' });
  const found = await findControlSocket(directory, 'ovs-vswitchd');
  expect(found).toBe(path.join(directory, 'ovs-vswitchd.4711.ctl'));
});

test('says that a daemon without such a file does not run', async () => {
  const directory = makeRunDirectory({});
  await expect(findControlSocket(directory, 'ovs-vswitchd')).rejects.toMatchObject({
    code: 'NOT_RUNNING',
    message: `there is no ${directory}/ovs-vswitchd.pid, so ovs-vswitchd does not run`,
  });
});

test.each(['', 'x', '../../etc/passwd', '12 13', '-1', '123456789'])(
  'makes no path of a file that has no process id in it: %j',
  async (text) => {
    const directory = makeRunDirectory({ 'ovs-vswitchd.pid': text });
    await expect(findControlSocket(directory, 'ovs-vswitchd')).rejects.toMatchObject({ code: 'NOT_RUNNING' });
  },
);

test('passes on an error of the system', async () => {
  const directory = makeRunDirectory({});
  fs.mkdirSync(path.join(directory, 'ovs-vswitchd.pid'));
  await expect(findControlSocket(directory, 'ovs-vswitchd')).rejects.toMatchObject({ code: 'EISDIR' });
});
