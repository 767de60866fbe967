import type fs from 'node:fs';
import { expect, test } from 'vitest';
import { DirectoryWatcher, type WatchFiles } from '../../src/sources/watcher.js';

type Hear = (event: string, name: string | null) => void;

/** Events as inotify would tell them. */
function watchNothing(): { readonly fs: WatchFiles; hear: Hear } {
  const fake = {
    hear: (() => undefined) as Hear,
    fs: {
      statSync: () => ({ dev: 1, ino: 2 }),
      watch: (_directory: string, listener: Hear) => {
        fake.hear = listener;
        return { on: () => undefined, close: () => undefined };
      },
    } as unknown as Pick<typeof fs, 'statSync' | 'watch'>,
  };
  return fake;
}

function open(only?: string) {
  const fake = watchNothing();
  let rings = 0;
  const watcher = new DirectoryWatcher(fake.fs, () => (rings += 1));
  watcher.set([{ directory: '/etc/pods', ...(only === undefined ? {} : { only }) }]);
  return {
    hears: (event: string, name: string | null): boolean => {
      const before = rings;
      fake.hear(event, name);
      return rings > before;
    },
  };
}

test('drafts and copies of editors say nothing, manifests and the swap of a volume do', () => {
  const { hears } = open();
  expect(hears('rename', '.web.yaml.swp')).toBe(false);
  expect(hears('change', '.draft')).toBe(false);
  expect(hears('change', 'web.yaml~')).toBe(false);
  expect(hears('rename', 'web.yaml')).toBe(true);
  expect(hears('change', 'web.yaml')).toBe(true);
  expect(hears('rename', '..data')).toBe(true);
  expect(hears('rename', null)).toBe(true);
});

test('of a busy place only one name counts, whatever it is', () => {
  const { hears } = open('.pods.yaml');
  expect(hears('rename', '.pods.yaml')).toBe(true);
  expect(hears('rename', 'other.yaml')).toBe(false);
});

test('the end of the directory itself is heard', () => {
  const { hears } = open('web.yaml');
  expect(hears('rename', 'pods')).toBe(true);
});
