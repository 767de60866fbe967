import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
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

  test('says what is wrong with a path', async () => {
    const directory = makeDirectory();
    fs.writeFileSync(`${directory}/file`, '');
    await expect(listenPrivately(newServer(), `${directory}/file/x.sock`)).rejects.toThrow(
      /cannot listen on .*ENOTDIR|EEXIST/,
    );
  });
});
