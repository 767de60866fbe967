import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenDurably } from '../src/index.js';
import { connect, makeDirectory } from './sockets.js';

async function listen(file: string) {
  const accepted: Socket[] = [];
  const told: unknown[] = [];
  let tell = (): void => undefined;
  const listener = await listenDurably(
    () => net.createServer((socket) => accepted.push(socket)),
    file,
    (error) => {
      told.push(error);
      tell();
    },
  );
  onTestFinished(async () => {
    for (const socket of accepted) socket.destroy();
    await listener.close();
  });
  const next = (): Promise<void> => new Promise((resolve) => (tell = resolve));
  return { listener, accepted, told, next };
}

test('a socket that was deleted is there again, and connections of before go on', async () => {
  const file = path.join(makeDirectory(), 'run/x.sock');
  const { accepted, told, next } = await listen(file);
  const before = await connect(file);
  for (const target of [file, path.dirname(file)]) {
    const again = next();
    fs.rmSync(target, { recursive: true });
    await again;
    await connect(file);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  }
  await expect.poll(() => accepted.length).toBe(3);
  expect(told).toEqual([undefined, undefined]);
  expect(before.destroyed).toBe(false);
});

test('a file of another process in its place is left alone, and so is one after the end', async () => {
  const file = path.join(makeDirectory(), 'x.sock');
  const { listener, told } = await listen(file);
  const other = `${file}.other`;
  fs.writeFileSync(other, 'other');
  fs.renameSync(other, file);
  await listener.close();
  expect(fs.readFileSync(file, 'utf8')).toBe('other');
  fs.rmSync(file);
  await new Promise((resolve) => setImmediate(resolve));
  expect(fs.existsSync(file)).toBe(false);
  expect(told).toEqual([]);
});
