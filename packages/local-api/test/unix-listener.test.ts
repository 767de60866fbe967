import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenPrivately } from '../src/unix-listener.js';
import { connect, makeDirectory } from './sockets.js';

function newServer(): net.Server {
  const server = net.createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  return server;
}

/** A socket file whose process is dead. */
function leaveStaleSocket(file: string): void {
  const script = `require('net').createServer().listen(${JSON.stringify(file)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
  expect(fs.statSync(file).isSocket()).toBe(true);
}

const modeOf = (file: string): number => fs.statSync(file).mode & 0o777;

describe('listening on a unix socket', () => {
  test('makes the directory 0700 and the socket 0600, and leaves the umask alone', async () => {
    const before = process.umask();
    const directory = `${makeDirectory()}/a/b`;
    await listenPrivately(newServer(), `${directory}/x.sock`);
    expect(modeOf(directory)).toBe(0o700);
    expect(modeOf(`${directory}/x.sock`)).toBe(0o600);
    expect(process.umask()).toBe(before);
  });

  test('takes the place of a dead agent', async () => {
    const file = `${makeDirectory()}/x.sock`;
    leaveStaleSocket(file);
    await listenPrivately(newServer(), file);
    await connect(file);
  });

  test('does not push a live one aside', async () => {
    const file = `${makeDirectory()}/x.sock`;
    await listenPrivately(newServer(), file);
    await expect(listenPrivately(newServer(), file)).rejects.toMatchObject({ code: 'AGENT_RUNNING' });
    await connect(file);
  });

  test('does not delete what is no socket', async () => {
    const file = `${makeDirectory()}/x.sock`;
    fs.writeFileSync(file, 'precious');
    await expect(listenPrivately(newServer(), file)).rejects.toThrow('is no socket');
    expect(fs.readFileSync(file, 'utf8')).toBe('precious');
  });

  test('does not follow a link to somewhere', async () => {
    const directory = makeDirectory();
    fs.symlinkSync('/etc/hostname', `${directory}/x.sock`);
    await expect(listenPrivately(newServer(), `${directory}/x.sock`)).rejects.toThrow('is no socket');
  });

  test('refuses a directory where others could put their own', async () => {
    const directory = makeDirectory();
    fs.chmodSync(directory, 0o777);
    await expect(listenPrivately(newServer(), `${directory}/x.sock`)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    fs.chmodSync(directory, 0o1777);
    await listenPrivately(newServer(), `${directory}/x.sock`);
  });

  test('refuses a way that others can turn: a directory above, and a link of theirs', async () => {
    const directory = makeDirectory();
    fs.mkdirSync(`${directory}/open/own`, { recursive: true, mode: 0o700 });
    fs.chmodSync(`${directory}/open`, 0o777);
    const refused = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${directory}/open `) as unknown,
    };
    await expect(listenPrivately(newServer(), `${directory}/open/own/x.sock`)).rejects.toMatchObject(refused);
    fs.symlinkSync(`${directory}/open/own`, `${directory}/link`);
    await expect(listenPrivately(newServer(), `${directory}/link/x.sock`)).rejects.toMatchObject(refused);
    fs.chmodSync(`${directory}/open`, 0o1777);
    await listenPrivately(newServer(), `${directory}/link/x.sock`);
    expect(modeOf(`${directory}/open/own/x.sock`)).toBe(0o600);
  });

  test.skipIf(process.getuid?.() !== 0)('refuses a link that belongs to another user', async () => {
    const directory = makeDirectory();
    fs.mkdirSync(`${directory}/own`, 0o700);
    fs.symlinkSync(`${directory}/own`, `${directory}/link`);
    fs.lchownSync(`${directory}/link`, 65_534, 65_534);
    await expect(listenPrivately(newServer(), `${directory}/link/x.sock`)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  test('does not touch the umask of the process, not even for a moment', async () => {
    const before = process.umask(0);
    const umask = vi.spyOn(process, 'umask');
    onTestFinished(() => {
      umask.mockRestore();
      process.umask(before);
    });
    const file = `${makeDirectory()}/x.sock`;
    await listenPrivately(newServer(), file);
    expect(umask).not.toHaveBeenCalled();
    expect(modeOf(file)).toBe(0o600);
  });

  test('takes its file away at the end, and not that of another one', async () => {
    const file = `${makeDirectory()}/x.sock`;
    const close = (server: net.Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));
    const first = newServer();
    await listenPrivately(first, file);
    fs.renameSync(file, `${file}.old`);
    const second = newServer();
    await listenPrivately(second, file);
    await close(first);
    await connect(file);
    await close(second);
    expect(fs.existsSync(file)).toBe(false);
  });

  test('says what is wrong with a path', async () => {
    const directory = makeDirectory();
    fs.writeFileSync(`${directory}/file`, '');
    await expect(listenPrivately(newServer(), `${directory}/file/x.sock`)).rejects.toThrow(
      /cannot listen on .*ENOTDIR|EEXIST/,
    );
  });
});
