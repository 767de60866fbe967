import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  findUsableNetwork,
  listConfigFiles,
  loadNetwork,
  loadNetworkFile,
  NetworkNotFoundError,
} from '../../src/index.js';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-conf-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

function write(name: string, content: unknown): string {
  const file = path.join(directory, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
const list = (name: string, ...types: string[]) => ({
  name,
  cniVersion: '1.0.0',
  plugins: types.map((type) => ({ type })),
});
const single = (name: string) => ({ name, cniVersion: '0.4.0', type: 'bridge' });

describe('listConfigFiles', () => {
  test('takes three extensions, in name order, without looking into folders', async () => {
    for (const name of [
      '20-b.conf',
      '10-a.json',
      '30-c.conflist',
      '40-d.conf.bak',
      'e.txt',
      'x.conf/y.conf',
      '.conf',
    ]) {
      write(name, {});
    }
    fs.symlinkSync('20-b.conf', path.join(directory, '15-link.conf'));
    expect((await listConfigFiles(directory)).map((file) => path.basename(file))).toEqual([
      '10-a.json',
      '15-link.conf',
      '20-b.conf',
      '30-c.conflist',
    ]);
  });
  test('a directory that is not there is empty, one that cannot be read is an error', async () => {
    expect(await listConfigFiles(path.join(directory, 'none'))).toEqual([]);
    await expect(listConfigFiles(write('file', ''))).rejects.toMatchObject({ code: 5 });
  });
});

describe('loadNetworkFile', () => {
  test('appends the plugins of the folder with the network’s name, in name order', async () => {
    const file = write('10-net.conflist', list('net', 'bridge'));
    write('net/20-b.conf', { type: 'tuning', sysctl: {} });
    write('net/10-a.conf', { type: 'portmap' });
    write('net/30-c.json', { type: 'never' });
    write('other/10-a.conf', { type: 'never' });
    const network = await loadNetworkFile(file);
    expect(network.plugins.map(({ type }) => type)).toEqual(['bridge', 'portmap', 'tuning']);
    expect(network.file).toBe(file);
    expect(JSON.parse(network.source)).toMatchObject({ plugins: network.plugins });
  });
  test('the folder alone is enough', async () => {
    write('net/10-a.conf', { type: 'portmap' });
    const network = await loadNetworkFile(write('10-net.conflist', { name: 'net', cniVersion: '1.1.0' }));
    expect(network.plugins).toEqual([{ type: 'portmap' }]);
  });
  test('loadOnlyInlinedPlugins leaves the folder alone', async () => {
    write('net/10-a.conf', 'rubbish');
    const network = await loadNetworkFile(
      write('10-net.conflist', { ...list('net', 'bridge'), loadOnlyInlinedPlugins: true }),
    );
    expect(network.plugins).toHaveLength(1);
  });
  test('a single plugin has no folder', async () => {
    write('net/10-a.conf', { type: 'portmap' });
    expect((await loadNetworkFile(write('10-net.conf', single('net')))).plugins).toHaveLength(1);
  });
  test('one bad file in the folder fails the network and is named', async () => {
    const bad = write('net/10-a.conf', {});
    await expect(loadNetworkFile(write('10-net.conflist', list('net', 'bridge')))).rejects.toMatchObject({
      code: 7,
      message: `${bad}: plugin configuration: type: is missing`,
    });
  });
  test('no plugins anywhere', async () => {
    const file = write('10-net.conflist', { name: 'net' });
    await expect(loadNetworkFile(file)).rejects.toMatchObject({
      code: 7,
      message: expect.stringContaining(file) as string,
    });
  });
  test('what is no regular file, or too large, is not read', async () => {
    await expect(loadNetworkFile('/dev/zero')).rejects.toMatchObject({ code: 5 });
    await expect(loadNetworkFile(path.join(directory, 'none.conf'))).rejects.toMatchObject({ code: 5 });
    const huge = write('huge.conf', ' '.repeat((1 << 20) + 1));
    await expect(loadNetworkFile(huge)).rejects.toMatchObject({ code: 5 });
  });
});

describe('loadNetwork', () => {
  test('finds by name, lists before single plugins', async () => {
    write('10-a.conf', single('net'));
    write('20-b.conflist', list('net', 'ptp'));
    write('05-c.conflist', list('other', 'ptp'));
    expect((await loadNetwork(directory, 'net')).plugins).toEqual([{ type: 'ptp' }]);
  });
  test('falls back to .conf and .json', async () => {
    write('10-a.json', single('net'));
    expect(await loadNetwork(directory, 'net')).toMatchObject({ name: 'net', cniVersion: '0.4.0' });
  });
  test('a broken file of another network is ignored', async () => {
    write('10-broken.conflist', '{');
    write('20-net.conflist', list('net', 'ptp'));
    expect((await loadNetwork(directory, 'net')).name).toBe('net');
  });
  test('a broken file of this network is the error', async () => {
    const file = write('10-net.conflist', { ...list('net', 'ptp'), disableGC: 3 });
    await expect(loadNetwork(directory, 'net')).rejects.toMatchObject({
      message: `${file}: network configuration: disableGC: must be true or false, is a number`,
    });
  });
  test('an empty directory and a missing name are told apart', async () => {
    await expect(loadNetwork(directory, 'net')).rejects.toMatchObject({ reason: 'no-files', code: 7 });
    write('10-broken.conflist', '{');
    await expect(loadNetwork(directory, 'net')).rejects.toMatchObject({
      reason: 'no-match',
      details: expect.stringContaining('10-broken.conflist') as string,
    });
    await expect(loadNetwork(directory, 'net')).rejects.toBeInstanceOf(NetworkNotFoundError);
  });
});

describe('findUsableNetwork', () => {
  test('takes the first usable one and tells why the others were skipped', async () => {
    write('10-broken.conflist', '{');
    write('20-missing.conflist', list('missing', 'nowhere'));
    write('30-empty.conflist', { name: 'empty', plugins: [] });
    write('40-good.conf', single('good'));
    write('50-later.conf', single('later'));
    const { network, skipped } = await findUsableNetwork(directory, ({ plugins }) => {
      if (plugins.some(({ type }) => type === 'nowhere')) throw new Error('plugin nowhere is not there');
    });
    expect(network.name).toBe('good');
    expect(skipped.map(({ file, error }) => [path.basename(file), error.message])).toEqual([
      ['10-broken.conflist', expect.stringContaining('is no JSON')],
      ['20-missing.conflist', `${directory}/20-missing.conflist: plugin nowhere is not there`],
      ['30-empty.conflist', expect.stringContaining('plugins: is empty')],
    ]);
  });
  test('nothing there, and nothing usable', async () => {
    await expect(findUsableNetwork(directory)).rejects.toMatchObject({ reason: 'no-files' });
    write('10-broken.conf', '{}');
    await expect(findUsableNetwork(directory)).rejects.toMatchObject({
      reason: 'none-usable',
      skipped: [{ file: `${directory}/10-broken.conf` }],
    });
  });
});
