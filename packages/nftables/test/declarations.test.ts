import { describe, expect, it } from 'vitest';
import { checkName, elementsIn, parseBody } from '../src/declarations.js';

describe('parseBody', () => {
  it('finds the named blocks', () => {
    const body = `
      comment "not { a block"
      # chain commented { out }
      map ports { type inet_proto . inet_service:ipv4_addr . inet_service; size 10; }
      set s {
        typeof ip saddr . meta mark
        elements = { 1.2.3.4 . 5, # why
                     1.2.3.5 . 6 }
      }
      ct helper ftp { type "ftp" protocol tcp; }
      chain c { type nat hook output priority -100; tcp dport { 80, 443 } accept; }; chain d { }
    `;
    const declarations = parseBody(body);
    expect(declarations.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'map ports',
      'set s',
      'ct helper ftp',
      'chain c',
      'chain d',
    ]);
    expect(declarations[0]?.types).toBe('type inet_proto . inet_service : ipv4_addr . inet_service');
    expect(declarations[1]?.types).toBe('typeof ip saddr . meta mark');
  });

  it('gives the same text for another layout', () => {
    const [a] = parseBody('set s { type mark; size 5; }');
    const [b] = parseBody('\n\tset s {\n\n# hello\ntype   mark\n size 5 ;;\n}');
    const [c] = parseBody('set s { type mark; size 6; }');
    expect(a?.text).toBe(b?.text);
    expect(a?.text).not.toBe(c?.text);
  });

  it.each(['chain a {', 'chain a { } }', '}', 'chain a { } } table ip x {', '} {'])('refuses %o', (body) => {
    expect(() => parseBody(body)).toThrow(RangeError);
  });

  it('takes braces in comments and quotes for text', () => {
    expect(parseBody('chain a { log prefix "}"\n# }\n }').map(({ name }) => name)).toEqual(['a']);
  });
});

describe('elementsIn', () => {
  it('reads what nft lists', () => {
    const listing = `table inet t {
	map v {
		type ifname : verdict
		elements = { "eth0" comment "a } b" : drop,
			     "cali1" : jump a }
	}
}`;
    expect(elementsIn(listing)).toBe('"eth0" comment "a } b" : drop, "cali1" : jump a');
    expect(elementsIn('table inet t {\n\tset s {\n\t\ttype mark\n\t}\n}')).toBeUndefined();
  });
});

describe('checkName', () => {
  it('lets through what nft takes for a name', () => {
    for (const name of ['podwire', 'a.b/c-d_e', '_x', 'X9']) expect(checkName(name)).toBe(name);
    for (const name of ['', 'a b', 'a;b', '9a', 'a{', '"a"', '-f', 'a\nb', 'x'.repeat(256)]) {
      expect(() => checkName(name)).toThrow(RangeError);
    }
  });
});
