import { describe, expect, it } from 'vitest';
import { type HoldingsFile, type HoldingsFileSystem, openHoldingsFile } from '@podwire/cluster-ipam';

const path = '/run/podwire/holdings.json';
const file: HoldingsFile = {
  version: 2,
  node: 'n1',
  instance: 'i1',
  holdings: [{ cidr: '10.0.0.0/26', state: 'confirmed' }],
  pools: [{ name: 'blue' }],
  confirmedAt: 5,
  lending: [{ address: '10.0.0.4', node: 'n2', block: '10.0.0.0/26' }],
  imported: [{ address: '10.0.0.3', owner: 'calico x', since: 1 }],
};

function fakeFiles() {
  const texts = new Map<string, string>();
  const done: string[] = [];
  const files: HoldingsFileSystem = {
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
    const { files, done } = fakeFiles();
    const holdings = openHoldingsFile(path, files);
    expect(holdings.read()).toBeUndefined();
    holdings.write(file);
    expect(done).toEqual([`write ${path}.new 600`, `rename ${path}.new ${path}`]);
    expect(holdings.read()).toEqual(file);
  });

  it.each(['', '{"version":1', '{"version":2}', '{"version":3}', '[]', 'null'])(
    '%j is as good as none',
    (text) => {
      const { files, texts } = fakeFiles();
      texts.set(path, text);
      expect(openHoldingsFile(path, files).read()).toBeUndefined();
    },
  );

  it('says which file cannot be written', () => {
    const { files } = fakeFiles();
    const full = (): never => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    expect(() => openHoldingsFile(path, { ...files, writeFileSync: full }).write(file)).toThrow(
      expect.objectContaining({
        code: 'RECORD_IO',
        message: `cannot write ${path}: no space left on device`,
      }),
    );
    expect(() => openHoldingsFile(path, { ...files, readFileSync: full }).read()).toThrow(/cannot read/);
  });
});
