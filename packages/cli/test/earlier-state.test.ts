/** A pod agent in the place of one that kept everything in /run. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { bringEarlierState, hasPods } from '../src/pod-agent/earlier-state.js';
import { placesIn } from '../src/pods/locate.js';
import { makeTemporaryDirectory } from './temporary.js';

test('what must outlive the boot is not in /run, unless a directory was asked for', () => {
  expect(placesIn('/run/podwire')).toMatchObject({
    podSocket: '/run/podwire/podlet.sock',
    podletState: '/var/lib/podwire/podlet',
    earlierPodletState: '/run/podwire/podlet',
    networkState: '/var/lib/podwire/network',
  });
  const own = placesIn('/srv/p');
  expect(own).toMatchObject({ podletState: '/srv/p/podlet', networkState: '/srv/p/network' });
  expect(own.earlierPodletState).toBeUndefined();
});

test('checkpoints, profiles and sources come along once, and pods stay', () => {
  const base = makeTemporaryDirectory();
  const [from, to] = ['from', 'to'].map((name) => path.join(base, name)) as [string, string];
  for (const name of ['checkpoints', 'pods/u1', 'seccomp'])
    fs.mkdirSync(path.join(from, name), { recursive: true });
  fs.writeFileSync(path.join(from, 'checkpoints/Pod_u1.yaml'), 'first');
  fs.writeFileSync(path.join(from, 'sources.json'), '{}');
  fs.mkdirSync(to);
  expect(hasPods(from)).toBe(true);
  bringEarlierState(from, to);
  expect(fs.readdirSync(to).sort()).toEqual(['checkpoints', 'seccomp', 'sources.json']);
  fs.rmSync(path.join(to, 'checkpoints/Pod_u1.yaml'));
  bringEarlierState(from, to);
  expect(fs.readdirSync(path.join(to, 'checkpoints'))).toEqual([]);
  expect(fs.existsSync(path.join(from, 'pods/u1'))).toBe(true);
  bringEarlierState(path.join(base, 'nothing'), to);
  expect(hasPods(undefined)).toBe(false);
});
