import fs from 'node:fs';
import path from 'node:path';
import { loadNetworkFile } from '@podwire/cni';
import { expect, test } from 'vitest';
import { conflistName, defaultSocket, removeConflist, renderConflist, writeConflist } from '../src/index.js';
import { makeDirectory } from './support.js';

/** `dist/images/01-kube-ovn.conflist` of kube-ovn 1.8, as seen on a node. */
const original =
  '{\n    "name":"kube-ovn",\n    "cniVersion":"0.3.1",\n    "plugins":[\n        {\n' +
  '            "type":"kube-ovn",\n            "server_socket":"/run/openvswitch/kube-ovn-daemon.sock"\n        },\n' +
  '        {\n            "type":"portmap",\n            "capabilities":{\n' +
  '                "portMappings":true\n            }\n        }\n    ]\n}\n';

test('the network configuration is that of the original, byte for byte', () => {
  expect(renderConflist()).toBe(original);
  expect(JSON.parse(renderConflist('/a"b'))).toMatchObject({ plugins: [{ server_socket: '/a"b' }, {}] });
});

test('it is written for all to read, in place of an earlier one', async () => {
  const directory = path.join(makeDirectory(), 'net.d');
  const file = path.join(directory, conflistName);
  writeConflist(directory, '/old');
  writeConflist(directory, defaultSocket);
  expect(fs.readFileSync(file, 'utf8')).toBe(original);
  expect(fs.statSync(file).mode & 0o7777).toBe(0o444);
  expect(fs.readdirSync(directory)).toEqual([conflistName]);
  expect((await loadNetworkFile(file)).plugins.map(({ type }) => type)).toEqual(['kube-ovn', 'portmap']);
});

test('it is removed if it is ours', () => {
  const directory = makeDirectory();
  expect(removeConflist(directory, defaultSocket)).toBe('absent');
  writeConflist(directory, defaultSocket);
  expect(removeConflist(directory, '/other')).toBe('kept');
  expect(fs.readdirSync(directory)).toEqual([conflistName]);
  expect(removeConflist(directory, defaultSocket)).toBe('removed');
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('a place that cannot be written is an error that names the file', () => {
  const directory = makeDirectory();
  fs.mkdirSync(path.join(directory, conflistName));
  const coded = expect.objectContaining({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(conflistName) as string,
  }) as Error;
  expect(() => writeConflist(directory, defaultSocket)).toThrow(coded);
  expect(() => removeConflist(directory, defaultSocket)).toThrow(coded);
});
