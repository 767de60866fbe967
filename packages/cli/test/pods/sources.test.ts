/** URLs of manifests with secrets in them: kept for a restart, never shown. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readPodAgentSettings, type PodAgentWords } from '../../src/pod-agent/settings.js';
import { loadSources, saveSources } from '../../src/pod-agent/source-file.js';
import { isOf } from '../../src/pods/follow.js';
import { placesIn } from '../../src/pods/locate.js';

let directory: string;
beforeEach(() => (directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-'))));
afterEach(() => fs.rmSync(directory, { recursive: true }));

const placesOf = () => {
  const places = placesIn(directory);
  fs.mkdirSync(places.podletState, { recursive: true });
  return { places, file: path.join(places.podletState, 'sources.json') };
};

test.each(['', 'null', '{', '{}', '[]', '{"files":[1],"urls":[]}', '{"files":[],"urls"'])(
  'a sources.json of %j is a problem, and does not prevent a start',
  (text) => {
    const { places, file } = placesOf();
    fs.writeFileSync(file, text);
    const loaded = loadSources(places);
    expect(loaded).toMatchObject({ files: [], urls: [] });
    expect(loaded.problem).toContain(file);
  },
);

test('saved sources are found again, and only root can read them', () => {
  const { places, file } = placesOf();
  expect(loadSources(places)).toEqual({ files: [], urls: [] });
  const sources = { files: ['/a'], urls: ['https://user:secret@example.org/'] };
  saveSources(places, sources);
  expect(loadSources(places)).toEqual(sources);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});

test('pods of a URL with a password are found by what is shown of it', () => {
  const pod = { origin: 'https://example.org/pods' };
  expect(isOf(['https://user:secret@example.org/pods'])(pod)).toBe(true);
  expect(isOf(['https://user:secret@example.net/pods'])(pod)).toBe(false);
});

describe('--header-file', () => {
  const read = (text: string) => {
    const headerFile = path.join(directory, 'headers');
    fs.writeFileSync(headerFile, text);
    const words: PodAgentWords = {
      runtime: 'embedded',
      dockerSocket: '',
      cniConfDir: '/c',
      cniBinDir: [],
      manifests: [],
      url: [],
      header: ['X-One: 1'],
      headerFile: [headerFile],
      nameSuffix: 'none',
      nodeLabel: [],
      allowedUnsafeSysctls: [],
      clusterDns: [],
      clusterDomain: 'cluster.local',
      credentials: [],
    };
    return readPodAgentSettings(directory, words, 'host').headers;
  };

  test('adds its lines to those of the command line', () => {
    expect(read('Authorization: Bearer secret\n\nX-One: 2\n')).toEqual({
      'X-One': ['1', '2'],
      Authorization: ['Bearer secret'],
    });
  });

  test('is refused with the place of a line that is none, and without the line', () => {
    expect(() => read('X-Two: 2\nsecret\n')).toThrow(/headers:2: must be "Name: value"$/);
  });
});
