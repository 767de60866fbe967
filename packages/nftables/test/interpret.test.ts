/** Small tables, and what becomes of packets in them. */
import { describe, expect, it } from 'vitest';
import { createInterpreter, type RulePacket, type TableContent } from '../src/interpret/index.js';
import type { BaseChain, RuleDeclaration, Statement } from '../src/rules/statement.js';

const tcp: RulePacket = {
  source: '10.0.0.1',
  destination: '10.0.0.2',
  protocol: 6,
  sourcePort: 40_000,
  destinationPort: 80,
  inLink: 'cali1',
  outLink: 'cali2',
  state: 'new',
};
const tcp6: RulePacket = { ...tcp, source: 'fd00::1', destination: 'fd00::2' };
const echo: RulePacket = {
  ...tcp,
  protocol: 1,
  sourcePort: undefined,
  destinationPort: undefined,
  icmp: { type: 8, code: 0 },
};

const base: BaseChain = { type: 'filter', hook: 'forward', priority: 0 };
const rule = (...statements: Statement[]): RuleDeclaration => ({ statements });
const drop: Statement = { is: 'drop' };
const accept: Statement = { is: 'accept' };

function table(rules: readonly RuleDeclaration[], more: Partial<TableContent> = {}): TableContent {
  return { sets: [], elements: [], ...more, chains: [{ name: 'main', base, rules }, ...(more.chains ?? [])] };
}

const verdictOf = (content: TableContent, packet: RulePacket): string =>
  createInterpreter(content).run('forward', packet).verdict;

describe('conditions', () => {
  it.each<[Statement, RulePacket, boolean]>([
    [{ is: 'match', field: 'iifname', value: 'cali*' }, tcp, true],
    [{ is: 'match', field: 'iifname', value: 'cali2' }, tcp, false],
    [{ is: 'match', field: 'iifname', op: '!=', value: 'cali*' }, tcp, false],
    [{ is: 'match', field: 'nfproto', value: 'ipv6' }, tcp6, true],
    [{ is: 'match', field: 'l4proto', value: 'tcp' }, tcp, true],
    [{ is: 'match', field: 'l4proto', value: 6 }, tcp, true],
    [{ is: 'match', field: 'ip saddr', value: '10.0.0.0/8' }, tcp, true],
    [{ is: 'match', field: 'ip saddr', op: '!=', value: '10.0.0.0/8' }, tcp, false],
    [{ is: 'match', field: 'ip saddr', op: '!=', value: '10.0.0.0/8' }, tcp6, false],
    [{ is: 'match', field: 'ip6 saddr', value: 'fd00::1' }, tcp6, true],
    [{ is: 'match', field: 'icmp type', value: 8 }, echo, true],
    [{ is: 'match', field: 'icmp type', op: '!=', value: 8 }, tcp, false],
    [{ is: 'match', field: 'mark', value: 0, mask: 1 }, { ...tcp, mark: 2 }, true],
    [{ is: 'range', field: 'th dport', first: 80, last: 90 }, tcp, true],
    [{ is: 'range', field: 'th dport', op: '!=', first: 80, last: 90 }, tcp, false],
    [{ is: 'ct-state', states: ['established', 'related'] }, tcp, false],
    [{ is: 'ct-state', states: ['new'] }, tcp, true],
    [{ is: 'ct-status', status: 'dnat' }, { ...tcp, isTranslated: { dnat: true } }, true],
    [{ is: 'match', field: 'fib daddr type', value: 'local' }, { ...tcp, destinationType: 'local' }, true],
  ])('%j of %j: %s', (condition, packet, expected) => {
    expect(verdictOf(table([rule(condition, drop)]), packet)).toBe(expected ? 'drop' : 'accept');
  });
});

describe('sets', () => {
  const sets: TableContent['sets'] = [
    { name: 'ports', key: ['ipv4_addr', 'inet_proto', 'inet_service'] },
    { name: 'nets', key: ['ipv4_addr'], interval: true },
    { name: 'links', key: ['ifname'], data: 'verdict' },
  ];
  const elements: TableContent['elements'] = [
    {
      set: 'ports',
      key: [
        { type: 'ipv4_addr', value: '10.0.0.2' },
        { type: 'inet_proto', value: 'tcp' },
        { type: 'inet_service', value: 80 },
      ],
    },
    { set: 'nets', key: [{ type: 'ipv4_interval', value: '10.0.0.0/31' }] },
    { set: 'links', key: [{ type: 'ifname', value: 'cali1' }], verdict: { verdict: 'goto', chain: 'pod' } },
  ];
  const fields = ['ip daddr', 'l4proto', 'th dport'] as const;
  const chains = [{ name: 'pod', rules: [rule({ is: 'return' })] }];

  it.each<[Statement, RulePacket, boolean]>([
    [{ is: 'lookup', fields, set: 'ports' }, tcp, true],
    [{ is: 'lookup', fields, set: 'ports' }, { ...tcp, destinationPort: 81 }, false],
    [{ is: 'lookup', fields, set: 'ports', negate: true }, { ...tcp, destinationPort: 81 }, true],
    [{ is: 'lookup', fields, set: 'ports', negate: true }, tcp6, false],
    [{ is: 'lookup', fields: ['ip saddr'], set: 'nets' }, tcp, true],
    [{ is: 'lookup', fields: ['ip daddr'], set: 'nets' }, tcp, false],
  ])('%j of %j: %s', (condition, packet, expected) => {
    expect(verdictOf(table([rule(condition, drop)], { sets, elements }), packet)).toBe(
      expected ? 'drop' : 'accept',
    );
  });

  it('a verdict map goes to a chain, and comes back to none behind a goto', () => {
    const content = table([rule({ is: 'vmap', fields: ['iifname'], map: 'links' }), rule(drop)], {
      sets,
      elements,
      chains,
    });
    expect(verdictOf(content, tcp)).toBe('accept');
    expect(verdictOf(content, { ...tcp, inLink: 'cali9' })).toBe('drop');
  });
});

describe('chains', () => {
  const second = { name: 'second', base: { ...base, priority: 10 }, rules: [rule(drop)] };

  it('an accept goes on to the next base chain of the hook', () => {
    expect(createInterpreter(table([rule(accept)], { chains: [second] })).run('forward', tcp)).toMatchObject({
      verdict: 'drop',
      chain: 'second',
    });
    expect(verdictOf(table([rule(accept)]), tcp)).toBe('accept');
  });

  it('behind a jump the calling chain goes on, behind a goto it does not', () => {
    const chains = [{ name: 'empty', rules: [] }];
    expect(verdictOf(table([rule({ is: 'jump', chain: 'empty' }), rule(drop)], { chains }), tcp)).toBe(
      'drop',
    );
    expect(verdictOf(table([rule({ is: 'goto', chain: 'empty' }), rule(drop)], { chains }), tcp)).toBe(
      'accept',
    );
  });

  it('a goto within a jump comes back to the one that jumped', () => {
    const chains = [
      { name: 'outer', rules: [rule({ is: 'goto', chain: 'inner' }), rule(accept)] },
      { name: 'inner', rules: [] },
    ];
    expect(verdictOf(table([rule({ is: 'jump', chain: 'outer' }), rule(drop)], { chains }), tcp)).toBe(
      'drop',
    );
  });

  it('marks are kept from rule to rule', () => {
    const rules = [
      rule({ is: 'set-mark', target: 'mark', value: 0x3, mask: 0x3 }),
      rule({ is: 'match', field: 'mark', value: 0x13 }, { is: 'log', group: 1, prefix: 'seen' }, drop),
    ];
    const outcome = createInterpreter(table(rules)).run('forward', { ...tcp, mark: 0x10 });
    expect(outcome).toMatchObject({ verdict: 'drop', logs: ['seen'], mark: 0x13 });
  });

  it('what is not there, and jumps without end, are errors', () => {
    const loop = [{ name: 'loop', rules: [rule({ is: 'jump', chain: 'loop' })] }];
    expect(() => verdictOf(table([rule({ is: 'jump', chain: 'none' })]), tcp)).toThrow(RangeError);
    expect(() => verdictOf(table([rule({ is: 'lookup', fields: ['ip saddr'], set: 'none' })]), tcp)).toThrow(
      RangeError,
    );
    expect(() => verdictOf(table([rule({ is: 'jump', chain: 'loop' })], { chains: loop }), tcp)).toThrow(
      RangeError,
    );
  });
});
