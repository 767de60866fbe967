import { describe, expect, test } from 'vitest';
import type { Participant } from '../src/probe/participant.js';
import { checksumOf, encodeEcho } from '../src/probe/ping.js';
import { planProbes, type Probe } from '../src/probe/plan.js';
import { evaluateAnswer } from '../src/probe/run.js';
import { evaluateUnusedAddress } from '../src/probe/unused-address.js';

const pod = (name: string, node: string, ipv4: string): Participant => ({
  ...{ name, kind: 'pod', node },
  addresses: { 4: ipv4, 6: `fd00::${ipv4.split('.').at(-1)}` },
});
const node = (name: string, ipv4: string): Participant => ({
  ...{ name, kind: 'node', node: name },
  addresses: { 4: ipv4 },
});
const parties: readonly Participant[] = [
  pod('a', 'node1', '10.0.1.1'),
  pod('b', 'node2', '10.0.2.1'),
  node('node1', '192.0.2.1'),
  node('node2', '192.0.2.2'),
  { name: 'outside', kind: 'outside', addresses: { 4: '198.51.100.1' }, aliases: ['192.0.2.254'] },
];
const describeProbe = ({ kind, from, to, family }: Probe): string =>
  `${from.name} ${to.name} ${kind}${family}`;

describe('which questions are asked', () => {
  const probes = planProbes(parties, [{ node: 'node2', address: '10.0.2.9' }]);

  test('pods probe all, nodes probe pods, each in the families that both have', () => {
    const asked = probes.map(describeProbe);
    expect(asked.filter((line) => line.startsWith('a '))).toEqual([
      ...['a b tcp4', 'a b udp4', 'a b tcp6', 'a b udp6'],
      ...['a node1 tcp4', 'a node1 udp4', 'a node2 tcp4', 'a node2 udp4'],
      ...['a outside tcp4', 'a outside udp4'],
      'a node2 vacant4',
    ]);
    expect(asked.filter((line) => line.startsWith('node1 '))).toEqual([
      ...['node1 a tcp4', 'node1 a udp4', 'node1 b tcp4', 'node1 b udp4'],
    ]);
    expect(asked.some((line) => line.startsWith('outside '))).toBe(false);
  });

  test('a pod is seen as itself by pods, as its node outside, and by nodes as either', () => {
    const seenAs = (to: string): unknown =>
      probes.find((probe) => probe.from.name === 'a' && probe.to.name === to && probe.kind === 'tcp')?.seenAs;
    expect(seenAs('b')).toEqual(['10.0.1.1']);
    expect(seenAs('outside')).toEqual(['192.0.2.1']);
    expect(seenAs('node2')).toEqual(['10.0.1.1', '192.0.2.1']);
  });

  test('who is elsewhere is asked by an echo, and asks nothing', () => {
    const [a, b, node1, node2] = parties as [Participant, Participant, Participant, Participant];
    const asked = planProbes([a, node1, { ...b, remote: true }, { ...node2, remote: true }]).map(
      describeProbe,
    );
    expect(asked.filter((line) => line.includes('icmp'))).toEqual([
      ...['a b icmp4', 'a b icmp6', 'a node2 icmp4', 'node1 b icmp4'],
    ]);
    expect(
      asked.filter((line) => !line.includes('icmp')).every((line) => /^a node1|^node1 a/.test(line)),
    ).toBe(true);
  });

  test('no probe of an unused address on a single node', () => {
    const alone = parties.filter(({ node: where }) => where === 'node1');
    const unusedAddresses = [{ node: 'node1', address: '10.0.1.9' }];
    expect(planProbes(alone, unusedAddresses).some(({ kind }) => kind === 'vacant')).toBe(false);
  });
});

describe('an echo', () => {
  test('has the checksum that a receiver expects: all words and the checksum make zero', () => {
    for (const size of [0, 1, 7, 1392, 1472]) expect(checksumOf(encodeEcho(4, 0x1234, size))).toBe(0);
  });

  test('is as RFC 792 and RFC 4443 have it', () => {
    expect([...encodeEcho(4, 0x0102, 0)]).toEqual([8, 0, 0xf6, 0xfd, 1, 2, 0, 0]);
    expect([...encodeEcho(6, 0x0102, 0)]).toEqual([128, 0, 0, 0, 1, 2, 0, 0]);
  });
});

describe('which answers are right', () => {
  const probe = planProbes(parties).find(({ from, to }) => from.name === 'a' && to.name === 'outside')!;
  const answer = { name: 'outside', seen: '192.0.2.1', bytes: 9 };

  test('the right one, who sees whom it should', () => {
    expect(evaluateAnswer(probe, answer)).toEqual({ ok: true, seen: '192.0.2.1', bytes: 9 });
    expect(evaluateAnswer(probe, { ...answer, name: 'b' }).words).toBe('b answered instead');
    expect(evaluateAnswer(probe, { ...answer, seen: '10.0.1.1' }).words).toBe(
      'it was seen as 10.0.1.1, not as 192.0.2.1',
    );
  });

  test('an unused address must be silent or refused by a node', () => {
    const about = '10.0.2.9';
    expect(evaluateUnusedAddress(undefined, [], parties)).toEqual({ ok: true, words: 'dropped silently' });
    expect(evaluateUnusedAddress('ENETUNREACH', [], parties).ok).toBe(true);
    const by = (address: string) => [{ what: 'unreachable', by: address, about } as const];
    expect(evaluateUnusedAddress('EHOSTUNREACH', by('192.0.2.2'), parties)).toEqual({
      ok: true,
      words: 'refused by node2',
    });
    expect(evaluateUnusedAddress('ECONNREFUSED', by('10.0.2.1'), parties).ok).toBe(false);
    expect(evaluateUnusedAddress('EHOSTUNREACH', by('192.0.2.254'), parties).words).toMatch(
      'left the cluster',
    );
    expect(evaluateUnusedAddress('answered', [], parties).ok).toBe(false);
    const loop = [{ what: 'time exceeded', by: '192.0.2.1', about } as const];
    expect(evaluateUnusedAddress('EHOSTUNREACH', loop, parties).words).toMatch('looped until');
  });
});
