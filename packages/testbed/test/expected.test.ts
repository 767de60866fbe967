import { describe, expect, it, test } from 'vitest';
import { askAgents, compareWithPolicy, type Expectation, questionOf } from '../src/probe/expected.js';
import type { Outcome } from '../src/probe/outcome.js';

const allow: Expectation = { verdict: 'allow', by: 'NetworkPolicy shop/db' };
const deny: Expectation = { verdict: 'deny', by: 'NetworkPolicy shop/db' };
const silence = { ok: false, words: 'no answer within 1500 ms', arrived: false };
const refusal = { ok: false, words: 'refused: no program listens', arrived: true };

describe('an answer beside policy', () => {
  it.each<[string, Outcome & { arrived?: boolean }, Expectation | undefined, Outcome]>([
    ['nothing is known of policy', silence, undefined, { ok: false, words: silence.words }],
    ['an allowed packet is answered', { ok: true }, allow, { ok: true, expected: 'allow', by: allow.by! }],
    [
      'an allowed packet is not answered',
      silence,
      allow,
      {
        ...{ ok: false, expected: 'allow', by: allow.by! },
        words: 'no answer within 1500 ms, though NetworkPolicy shop/db allows it',
      },
    ],
    [
      'no policy decides, and nothing is answered',
      silence,
      { verdict: 'allow' },
      { ok: false, words: silence.words, expected: 'allow' },
    ],
    [
      'a denied packet is not answered',
      silence,
      deny,
      { ok: true, words: 'denied by NetworkPolicy shop/db', expected: 'deny', by: deny.by! },
    ],
    [
      'a denied packet is answered',
      { ok: true },
      deny,
      {
        ...{ ok: false, expected: 'deny', by: deny.by! },
        words: 'it was answered, though NetworkPolicy shop/db denies it',
      },
    ],
    [
      'a denied packet is refused by the pod itself',
      refusal,
      deny,
      {
        ...{ ok: false, expected: 'deny', by: deny.by! },
        words: 'refused: no program listens, though NetworkPolicy shop/db denies it',
      },
    ],
  ])('%s', (_, outcome, expected, result) => {
    expect(compareWithPolicy(outcome, expected)).toEqual(result);
  });
});

const from = { name: 'shop/a', addresses: { 4: '10.0.0.1', 6: 'fd00::1' } } as never;
const probe = (kind: string, family: 4 | 6, address: string) =>
  ({ kind, from, to: from, family, address }) as never;

test.each([
  [
    'tcp',
    probe('tcp', 4, '10.0.0.2'),
    80,
    { protocol: 'tcp', port: 80, source: '10.0.0.1', destination: '10.0.0.2' },
  ],
  ['a port that is not known', probe('udp', 4, '10.0.0.2'), undefined, undefined],
  [
    'a ping over IPv6',
    probe('icmp', 6, 'fd00::2'),
    undefined,
    { protocol: 'icmpv6', icmpType: 128, source: 'fd00::1', destination: 'fd00::2' },
  ],
  ['an unused address', probe('vacant', 4, '10.0.0.9'), undefined, undefined],
])('policy is asked about %s', (_, asked, port, question) => {
  expect(questionOf(asked, port)).toEqual(question);
});

test('the first agent that answers is asked, and says which rule and where', async () => {
  const dead = { post: () => Promise.reject(new Error('no agent')) };
  const verdicts = [
    { verdict: 'deny', reason: 'end-of-tier', object: 'NetworkPolicy shop/db', file: 'db.yaml', line: 1 },
    { verdict: 'allow', reason: 'default' },
  ];
  const alive = { post: () => Promise.resolve({ verdicts } as never) };
  const question = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 'tcp', port: 80 } as const;
  expect(await askAgents([{ api: dead }, { api: alive }])([{ question }, { question }])).toEqual([
    { verdict: 'deny', by: 'NetworkPolicy shop/db (the end of tier default) at db.yaml:1' },
    { verdict: 'allow' },
  ]);
  expect(await askAgents([{ api: dead }])([{ question }])).toBeUndefined();
});

test('where a node is at an end, its own agent is asked as well', async () => {
  const question = { source: '10.0.0.1', destination: '192.0.2.2', protocol: 'tcp', port: 80 } as const;
  const counts: number[] = [];
  const agent = (node: string, verdict: 'allow' | 'deny') => ({
    node,
    api: {
      post: (_: string, { connections }: { connections: readonly unknown[] }) => {
        counts.push(connections.length);
        const one = { verdict, reason: 'default' };
        return Promise.resolve({ verdicts: connections.map(() => one) } as never);
      },
    } as never,
  });
  const agents = [agent('n1', 'allow'), agent('n2', 'deny')];
  const answers = await askAgents(agents)([{ question }, { question, node: 'n2' }, { question, node: 'n1' }]);
  expect(answers?.map(({ verdict }) => verdict)).toEqual(['allow', 'deny', 'allow']);
  expect(counts).toEqual([3, 1]);
});
