import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indent } from '../indent.js';
import { readObject, toJson } from '../json.js';
import { documents, replaceHalves } from './documents.js';

describe('readObject', () => {
  it('takes objects alone, of at most 64 levels', () => {
    const lists = (levels: number): string => `{"a":${'['.repeat(levels)}"[{"${']'.repeat(levels)}}`;
    expect(readObject(lists(63))).toBeDefined();
    for (const text of [
      lists(64),
      '{"a":1',
      '{"a":1}}',
      '[]',
      'null',
      '1',
      '',
      `{"a":${'['.repeat(1 << 20)}`,
    ])
      expect(readObject(text)).toBeUndefined();
  });
});

describe('indent', () => {
  it('prints what JSON.stringify wrote as JSON.stringify prints it', () => {
    fc.assert(
      fc.property(documents, ({ value }) => {
        const object = { a: value, cniVersion: 1, b: [value] };
        const expected = replaceHalves(toJson({ ...object, cniVersion: '0.3.1' }, 4));
        expect(indent(JSON.stringify(object), '0.3.1')).toBe(expected);
      }),
    );
  });

  it('changes nothing but the version of the outermost object, white space and spelling', () => {
    const text =
      '{"a":{"cniVersion":{}},"cniVersion":[{"b":1}],"c":"\\"cniVersion\\":1","d":[1.0,-0,1E5,{}]}';
    const { cniVersion: _, ...others } = readObject(text) ?? {};
    const printed = indent(text, '0.2.0');
    expect(readObject(printed)).toEqual({ ...others, cniVersion: '0.2.0' });
    expect(printed).toMatch(/1\.0,\s+-0,\s+1E5,\s+\{\}/);
  });

  it('replaces each of several versions, and adds one that is missing', () => {
    expect(indent('{"cniVersion":1,"cniVersion":"\\u0031"}', 'x').match(/"x"/g)).toHaveLength(2);
    expect(indent('{"a":1}', 'x')).toBe('{\n    "a": 1,\n    "cniVersion": "x"\n}');
  });

  it('prints a string of 1 MiB', () => {
    const long = 'a\\<'.repeat(300_000);
    expect(indent(JSON.stringify({ long, cniVersion: '' }), 'x')).toBe(toJson({ long, cniVersion: 'x' }, 4));
  });
});
