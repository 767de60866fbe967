import { describe, expect, it } from 'vitest';
import { type SavedState, type SavedStateFileSystem, openSavedState } from '@podwire/cluster-ipam';

const path = '/run/podwire/holdings.json';
const file: SavedState = {
  version: 2,
  node: 'n1',
  instance: 'i1',
  affinities: [{ cidr: '10.0.0.0/26', state: 'confirmed' }],
  pools: [{ name: 'blue' }],
  confirmedAt: 5,
  lent: [{ address: '10.0.0.4', node: 'n2', block: '10.0.0.0/26' }],
  imported: [{ address: '10.0.0.3', owner: 'calico x', since: 1 }],
};

function fakeFiles() {
  const texts = new Map<string, string>();
  const done: string[] = [];
  const files: SavedStateFileSystem = {
    readFileSync(name) {
      const text = texts.get(name);
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return text;
    },
    writeFileSync(name, text, { mode }) {
      done.push(`write ${name} ${mode.toString(8)}`);
      texts.set(name, text);
    },
    renameSync(from, to) {
      done.push(`rename ${from} ${to}`);
      texts.set(to, texts.get(from)!);
      texts.delete(from);
    },
  };
  return { files, texts, done };
}

describe('the file of holdings', () => {
  it('is replaced as a whole, for nobody else to read', () => {
    const { files, done, texts } = fakeFiles();
    const holdings = openSavedState(path, files);
    expect(holdings.read()).toBeUndefined();
    holdings.write(file);
    expect(done).toEqual([`write ${path}.new 600`, `rename ${path}.new ${path}`]);
    expect(holdings.read()).toEqual(file);
    // The names in the file are older than those in the code, and stay.
    expect(JSON.parse(texts.get(path)!)).toMatchObject({ holdings: file.affinities, lending: file.lent });
  });

  it.each(['', '{"version":1', '{"version":2}', '{"version":3}', '[]', 'null'])(
    '%j is as good as none',
    (text) => {
      const { files, texts } = fakeFiles();
      texts.set(path, text);
      expect(openSavedState(path, files).read()).toBeUndefined();
    },
  );

  it('says which file cannot be written', () => {
    const { files } = fakeFiles();
    const full = (): never => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    expect(() => openSavedState(path, { ...files, writeFileSync: full }).write(file)).toThrow(
      expect.objectContaining({
        code: 'RECORD_IO',
        message: `cannot write ${path}: no space left on device`,
      }),
    );
    expect(() => openSavedState(path, { ...files, readFileSync: full }).read()).toThrow(/cannot read/);
  });
});
