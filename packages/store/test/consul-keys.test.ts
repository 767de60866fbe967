import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromConsulKey, toConsulKey, toConsulPrefix } from '../src/consul/keys.js';

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const part = fc.string({ unit: printable.filter((each) => each !== '/'), minLength: 1, maxLength: 12 });
const key = fc
  .tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 4 }))
  .map(([slash, parts]) => `${slash ? '/' : ''}${parts.join('/')}`);

describe('keys in Consul', () => {
  it.each([
    ['/podwire/shared/blocks/10.244.0.0-26', 'podwire/shared/blocks/10,244,0,0-26'],
    ['/podwire/shared/blocks/fd00::-122', 'podwire/shared/blocks/fd00_3A_3A-122'],
    ['/podwire/shared/nodes/node_1.example.com', 'podwire/shared/nodes/node_5F1,example,com'],
    ['podwire/leader', '_/podwire/leader'],
    ['_/a', '_/_5F/a'],
    ['/_/a', '_5F/a'],
  ])('%s is %s', (ours, theirs) => {
    expect(toConsulKey(ours)).toBe(theirs);
    expect(fromConsulKey(theirs)).toBe(ours);
  });

  it('come back as they were, in an alphabet that every Consul takes', () => {
    fc.assert(
      fc.property(key, (ours) => {
        const theirs = toConsulKey(ours);
        expect(fromConsulKey(theirs)).toBe(ours);
        expect(theirs).toMatch(/^[A-Za-z0-9,_/-]+$/);
        expect(theirs).not.toMatch(/^\//);
      }),
    );
  });

  it('begin as the translation of their beginning', () => {
    fc.assert(
      fc.property(key, fc.nat(), (ours, cut) => {
        const prefix = ours.slice(0, cut % (ours.length + 1));
        expect(toConsulKey(ours).startsWith(toConsulPrefix(prefix))).toBe(true);
      }),
    );
  });

  it.each(['podwire/a.b', 'podwire/a_b', '_'])('%s is not ours', (theirs) => {
    expect(fromConsulKey(theirs)).toBeUndefined();
  });
});
