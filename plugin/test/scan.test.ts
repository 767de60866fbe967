import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConfigStrings, decodeString, scanConfig } from '../scan.js';
import { damagedDocuments, documents } from './documents.js';

const texts = ({ socket, version }: ConfigStrings) => ({
  socket: socket && decodeString(socket),
  version: version && decodeString(version),
});
const scan = (text: string) => texts(scanConfig(Buffer.from(text)));

/** Result of JSON.parse; the scan must find the same, whatever the spelling. */
function expected(value: unknown) {
  const { socket, cniVersion } = value as Record<string, unknown>;
  const string = (item: unknown) => (typeof item === 'string' ? item : undefined);
  return { socket: string(socket), version: string(cniVersion) };
}

describe('scanConfig', () => {
  it('finds what JSON.parse finds', () => {
    fc.assert(
      fc.property(documents, ({ text, value }) => {
        expect(scan(text)).toEqual(expected(value));
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws, and never returns text that is no JSON string', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          damagedDocuments,
          fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
        ),
        (document) => {
          texts(scanConfig(document));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('looks only among the keys of the outermost object', () => {
    const nothing = { socket: undefined, version: undefined };
    expect(scan('{"prevResult":{"socket":"/a","cniVersion":"1"},"x":[{"socket":"/b"}]}')).toEqual(nothing);
    expect(scan('{"a":"socket","b":"{\\"socket\\":\\"/c\\"}"}')).toEqual(nothing);
    expect(scan('[{"socket":"/d"}]')).toEqual(nothing);
    expect(scan('"socket"')).toEqual(nothing);
    expect(scan('{}{"socket":"/e"}')).toEqual(nothing);
    expect(scan('}{"socket":"/f"}')).toEqual(nothing);
  });

  it('knows a key by its text, not by its spelling', () => {
    expect(scan('{"\\u0073ock\\u0065t" : "/run\\/x\\u002f\\ud83d\\ude00"}').socket).toBe('/run/x/😀');
    expect(scan('{"Socket":"/a","socket ":"/b","\\"socket":"/c"}').socket).toBeUndefined();
  });

  it('takes the last of several, and forgets it where that is no string', () => {
    expect(scan('{"socket":"/a","socket":"/b"}').socket).toBe('/b');
    expect(scan('{"socket":"/a","socket":5}').socket).toBeUndefined();
  });

  it('keeps what it found before the document goes wrong', () => {
    expect(scan('{"socket":"/a","broken').socket).toBe('/a');
    expect(scan('{"socket":"/a","x":"\\x","socket":"/b"}').socket).toBe('/a');
  });
});
