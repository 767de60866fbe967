import fs from 'node:fs';
import { silentLog } from '@podwire/platform';
import { describe, expect, test } from 'vitest';
import { openIdentity, saveIdentity, viewTunnel } from '../../src/cluster/identity.js';
import { openPeerJournal } from '../../src/cluster/peer-journal.js';
import { openStateFiles, openSavedStateFile } from '../../src/cluster/state-files.js';
import { createMemoryFiles } from '../fakes/cluster.js';
import { makeDirectory } from '../fakes/sockets.js';

let count = 0;
const random = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(++count);

describe('the identity of a node', () => {
  test('is made once, and is another in another state directory or under another name', () => {
    const files = createMemoryFiles();
    const first = openIdentity(files, 'n1', random);
    expect(openIdentity(files, 'n1', random)).toEqual(first);
    expect(openIdentity(createMemoryFiles(), 'n1', random).instance).not.toBe(first.instance);
    expect(openIdentity(files, 'n2', random).instance).not.toBe(first.instance);
  });

  test('keeps the addresses of the tunnel', () => {
    const files = createMemoryFiles();
    const first = openIdentity(files, 'n1', random);
    const mac = '66:00:00:00:00:01';
    expect(viewTunnel(first, mac)).toBeUndefined();
    saveIdentity(files, { ...first, tunnel: { ipv6: 'fd00::1' }, addresses: { ipv4: '192.0.2.1/24' } });
    expect(openIdentity(files, 'n1', random).addresses).toEqual({ ipv4: '192.0.2.1/24' });
    const { addresses: _, ...before } = first;
    files.write('node.json', JSON.stringify({ version: 1, ...before, tunnel: { ipv6: 'fd00::1' } }));
    expect(openIdentity(files, 'n1', random)).toMatchObject({ instance: first.instance, addresses: {} });
    expect(viewTunnel(openIdentity(files, 'n1', random), mac)).toMatchObject({ ipv6: 'fd00::1' });
  });

  test('a file that was torn is as good as none; a name that cannot be in the store is refused', () => {
    expect(openIdentity(createMemoryFiles(new Map([['node.json', '{"ver']])), 'n1', random).node).toBe('n1');
    expect(() => openIdentity(createMemoryFiles(), 'n1-', random)).toThrow(/nodeName: "n1-"/);
  });
});

test('holdings of another instance are not this one’s', () => {
  const files = createMemoryFiles();
  const file = { version: 1, node: 'n1', instance: 'a', affinities: [], pools: [], confirmedAt: 1 } as const;
  openSavedStateFile(files, 'n1', 'a').write(file);
  expect(openSavedStateFile(files, 'n1', 'a').read()).toEqual(file);
  expect(openSavedStateFile(files, 'n1', 'b').read()).toBeUndefined();
  expect(openSavedStateFile(files, 'n2', 'a').read()).toBeUndefined();
});

describe('the journal of peers', () => {
  const peer = (name: string, ...blocks: string[]) => ({ name, ipv4: '192.0.2.1/24', blocks });

  test('says what was applied, also after a line that was torn', () => {
    const files = createMemoryFiles();
    const journal = openPeerJournal(files, 'own', silentLog);
    journal.note([
      ['a', peer('a', '10.0.0.0/26')],
      ['b', peer('b')],
    ]);
    journal.note([
      ['a', peer('a', '10.0.0.64/26')],
      ['b', undefined],
    ]);
    files.append('peers.jsonl', '{"name":"c","bl');
    const next = openPeerJournal(files, 'own', silentLog);
    expect([...next.found.values()]).toEqual([peer('a', '10.0.0.64/26')]);
    next.note([['d', peer('d')]]);
    expect([...openPeerJournal(files, 'own', silentLog).found.keys()]).toEqual(['a', 'd']);
  });

  test('says whether that is all', () => {
    const files = createMemoryFiles();
    const isComplete = (): boolean => openPeerJournal(files, 'own', silentLog).isComplete;
    expect(isComplete()).toBe(false);
    openPeerJournal(files, 'own', silentLog).note([
      ['a', peer('a', '10.0.0.0/26')],
      ['b', peer('b')],
    ]);
    expect(isComplete()).toBe(true);
    const text = files.read('peers.jsonl')!;
    for (const damaged of ['', text.slice(0, -3), text.slice(3), `${text}\0\0`, text.replace('"a"', 'a')]) {
      files.write('peers.jsonl', damaged);
      expect(isComplete()).toBe(false);
    }
  });

  test('does not grow with changes', () => {
    const files = createMemoryFiles();
    const journal = openPeerJournal(files, 'own', silentLog);
    for (let i = 0; i < 5_000; i++) journal.note([['a', peer('a', `10.0.${i % 256}.0/26`)]]);
    expect(files.read('peers.jsonl')?.split('\n').length).toBeLessThan(1_100);
    expect(openPeerJournal(files, 'own', silentLog).found.size).toBe(1);
  });

  test('a line that was torn does not spoil the next, also when it is all there is', () => {
    const files = createMemoryFiles(new Map([['peers.jsonl', '{"name":"a","bl']]));
    openPeerJournal(files, 'own', silentLog).note([['b', peer('b')]]);
    expect([...openPeerJournal(files, 'own', silentLog).found.keys()]).toEqual(['b']);
  });

  test('a peer that is what it was is not written again', () => {
    const files = createMemoryFiles();
    openPeerJournal(files, 'own', silentLog).note([['a', peer('a', '10.0.0.0/26')]]);
    const journal = openPeerJournal(files, 'own', silentLog);
    for (let i = 0; i < 3; i++) journal.note([['a', peer('a', '10.0.0.0/26')]]);
    expect(files.read('peers.jsonl')?.trim().split('\n')).toHaveLength(1);
  });

  test('a node that has been given another’s name is no peer of itself', () => {
    const files = createMemoryFiles();
    openPeerJournal(files, 'a', silentLog).note([
      ['b', peer('b')],
      ['c', peer('c')],
    ]);
    expect([...openPeerJournal(files, 'b', silentLog).found.keys()]).toEqual(['c']);
  });

  test('a full disk stops no call, and the records are written when there is room', () => {
    const files = createMemoryFiles();
    let isFull = false;
    const journal = openPeerJournal(
      {
        ...files,
        append(name, text) {
          files.append(name, isFull ? text.slice(0, 5) : text);
          if (isFull) throw new Error('ENOSPC');
        },
      },
      'own',
      silentLog,
    );
    journal.note([['a', peer('a')]]);
    isFull = true;
    journal.note([['b', peer('b')]]);
    isFull = false;
    journal.note([['b', peer('b')]]);
    journal.note([['c', peer('c')]]);
    expect([...openPeerJournal(files, 'own', silentLog).found.keys()]).toEqual(['a', 'b', 'c']);
  });
});

test('state files are replaced as a whole, and only root reads them', () => {
  const directory = makeDirectory();
  const files = openStateFiles(directory);
  expect(files.read('x')).toBeUndefined();
  files.write('x', 'one');
  files.append('x', ' two');
  files.write('y', 'three');
  expect(files.read('x')).toBe('one two');
  expect(fs.readdirSync(directory).sort()).toEqual(['x', 'y']);
  expect(fs.statSync(`${directory}/x`).mode & 0o777).toBe(0o600);
  expect(() => openStateFiles(`${directory}/none`).write('x', '')).toThrow(
    expect.objectContaining({ code: 'RECORD_IO' }),
  );
});
