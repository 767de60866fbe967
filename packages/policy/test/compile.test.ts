import { describe, expect, it } from 'vitest';
import {
  type CompiledRule,
  createCompiler,
  decideConnection,
  decidePath,
  type InputChange,
  type Policy,
  type PolicyCompiler,
  type Rule,
} from '../src/index.js';
import { all, gone, inNamespace, label, pod, pods, policy, rule } from './compile-example.js';

const compile = (...changes: InputChange[]): PolicyCompiler => {
  const compiler = createCompiler({ node: 'node-1' });
  compiler.apply(changes);
  return compiler;
};

const own = pod('a/web', '10.0.0.1', { ports: [{ name: 'http', protocol: 'tcp', port: 8080 }] });
const other = pod('b/db', '10.0.0.2', {
  node: 'node-2',
  ports: [{ name: 'sql', protocol: 'tcp', port: 5432 }],
});

/** Sets by their members: `addresses 4: 10.0.0.1`. */
const describeSets = ({ state }: PolicyCompiler): string[] =>
  [...state.sets.values()]
    .map(({ set, members }) => `${set.type} ${set.family}: ${[...members].sort().join(' ')}`)
    .sort();

const rulesOf = (rest: Partial<Rule>, direction: 'ingress' | 'egress' = 'ingress'): readonly CompiledRule[] =>
  compile(own, other, policy('p', { [direction]: [rule(rest)] })).state.policies.get('p')![direction]!;

const setsOf = (rest: Partial<Rule>, direction: 'ingress' | 'egress' = 'ingress'): string[] =>
  describeSets(compile(own, other, policy('p', { [direction]: [rule(rest)] })));

describe('sets', () => {
  it.each<[string, Partial<Rule>, string[]]>([
    [
      'pods',
      { source: [{ peers: [pods(inNamespace('b'), all)] }] },
      ['addresses 4: 10.0.0.2', 'addresses 6: '],
    ],
    ['pods that nothing can be', { source: [{ peers: [pods(all, { is: 'none' })] }] }, []],
    [
      'a net with exceptions of its own',
      {
        source: [
          {
            peers: [
              { is: 'net', cidr: '10.0.0.0/29', except: ['10.0.0.0/30', '10.0.0.6/32'] },
              { is: 'net', cidr: '10.0.0.2/32', except: [] },
            ],
          },
        ],
      },
      ['nets 4: 10.0.0.2/32 10.0.0.4/31 10.0.0.7/32'],
    ],
    [
      'nets that touch and overlap',
      {
        source: [
          {
            peers: ['10.0.0.0/25', '10.0.0.128/25', '10.0.0.7/32'].map((cidr) => ({
              is: 'net' as const,
              cidr,
              except: [],
            })),
          },
        ],
      },
      ['nets 4: 10.0.0.0/24'],
    ],
    ['every address', { source: [{ peers: [{ is: 'net', cidr: '0.0.0.0/0', except: [] }] }] }, []],
    [
      'a named port of the pods here',
      { services: [{ namedPorts: ['http'] }] },
      ['ports 4: 10.0.0.1,tcp,8080', 'ports 6: '],
    ],
    ['a named port that nothing has', { services: [{ namedPorts: ['sql'] }] }, ['ports 4: ', 'ports 6: ']],
  ])('%s', (_, rest, wanted) => {
    expect(setsOf(rest)).toEqual(wanted);
  });

  it('look named ports up at the pods of the destination', () => {
    const rest = {
      services: [{ namedPorts: ['sql'] }],
      destination: [{ peers: [pods(inNamespace('b'), all)] }],
    };
    expect(setsOf(rest, 'egress')).toEqual(['ports 4: 10.0.0.2,tcp,5432', 'ports 6: ']);
    expect(rulesOf(rest, 'egress').map(({ destination }) => destination.length)).toEqual([1, 1]);
  });

  it('are one where two policies select the same in other words', () => {
    const one = pods(all, { is: 'and', of: [label('app', 'db'), label('tier', 'x', 'y')] });
    const two = pods(all, { is: 'and', of: [label('tier', 'y', 'x'), label('app', 'db')] });
    const compiler = compile(
      own,
      policy('p', { ingress: [rule({ source: [{ peers: [one] }] })] }),
      policy('q', { ingress: [rule({ source: [{ peers: [two] }] })] }),
    );
    expect(compiler.state.sets.size).toBe(2);
    expect([...compiler.state.sets.keys()].every((id) => /^[a-z0-9-]{1,24}$/i.test(id))).toBe(true);
  });

  it('hold an address until the last that gave it has gone', () => {
    const peers = [pods(inNamespace('b'), all), pods(all, label('app', 'db'))];
    const compiler = compile(own, other, policy('p', { ingress: [rule({ source: [{ peers }] })] }));
    const delta = compiler.apply([pod('b/db', '10.0.0.2', { node: 'node-2', labels: {} })]);
    expect(delta.sets).toEqual([]);
    expect(compiler.apply([gone('pod', 'b/db')]).sets).toMatchObject([{ add: [], remove: ['10.0.0.2'] }]);
  });

  it('are those of policies that select a pod of this node only', () => {
    const elsewhere = policy('p', {
      subjects: [pods(inNamespace('b'), all)],
      ingress: [rule({ source: [{ peers: [pods(all, all)] }] })],
    });
    const compiler = compile(own, other, elsewhere);
    expect([compiler.state.sets.size, compiler.state.policies.size]).toEqual([0, 0]);
  });

  it('do not take in pods with the network of their node', () => {
    const host = pod('b/host', '192.0.2.1', { hostNetwork: true });
    const compiler = compile(
      own,
      host,
      policy('p', { ingress: [rule({ source: [{ peers: [pods(all, all)] }] })] }),
    );
    expect(describeSets(compiler)).toEqual(['addresses 4: 10.0.0.1', 'addresses 6: ']);
    expect([...compiler.state.endpoints.keys()]).toEqual(['a/web']);
  });
});

describe('rules', () => {
  const shapeOf = ({ action: _a, path: _p, source, destination, ...rest }: CompiledRule) => ({
    ...rest,
    ...(source.length > 0 && { source: source.map(({ negate = false }) => negate) }),
    ...(destination.length > 0 && { destination: destination.map(({ negate = false }) => negate) }),
  });
  const range = (first: number, last = first) => ({ first, last });
  const net = { is: 'net', cidr: '10.0.0.0/24', except: [] } as const;
  const everything = { is: 'net', cidr: '0.0.0.0/0', except: [] } as const;

  it.each<[string, Partial<Rule>, object[]]>([
    ['without conditions, of both families', {}, [{}]],
    ['no peers: never', { source: [{ peers: [] }] }, []],
    ['none of no peers: always', { source: [{ peers: [], negate: true }] }, [{}]],
    ['no services: never', { services: [] }, []],
    ['every address of a family', { source: [{ peers: [everything] }] }, [{ family: 4 }]],
    ['no address of a family', { source: [{ peers: [everything], negate: true }] }, [{ family: 6 }]],
    [
      'not by this name',
      { notServices: [{ namedPorts: ['http'] }], family: 4 },
      [{ family: 4, destination: [true] }],
    ],
    [
      'ports of a protocol are merged',
      {
        services: [
          { protocol: 'tcp', ports: [range(81), range(80)] },
          { protocol: 6, ports: [range(82, 90)] },
          { protocol: 'udp' },
        ],
      },
      [{ protocol: 'tcp', destinationPorts: [range(80, 90)] }, { protocol: 'udp' }],
    ],
    [
      'ports of any protocol',
      { services: [{ ports: [range(1)] }] },
      ['tcp', 'udp', 'sctp'].map((protocol) => ({ protocol, destinationPorts: [range(1)] })),
    ],
    [
      'pods or a net',
      { source: [{ peers: [net, pods(all, all)] }], family: 4 },
      [
        { family: 4, source: [false] },
        { family: 4, source: [false] },
      ],
    ],
    [
      'neither pods nor a net',
      { source: [{ peers: [net, pods(all, all)], negate: true }], family: 4 },
      [{ family: 4, source: [true, true] }],
    ],
    [
      'not a net: all of the other family',
      { source: [{ peers: [net], negate: true }] },
      [{ family: 4, source: [true] }, { family: 6 }],
    ],
    ['another protocol', { notServices: [{ protocol: 'udp' }] }, [{ notProtocol: 'udp' }]],
    [
      'not these ports',
      { services: [{ protocol: 'tcp' }], notServices: [{ protocol: 'tcp', ports: [range(22)] }] },
      [{ protocol: 'tcp', notDestinationPorts: [range(22)] }],
    ],
    [
      'not this port of a protocol',
      { notServices: [{ protocol: 'tcp', ports: [range(22)] }] },
      [{ notProtocol: 'tcp' }, { protocol: 'tcp', notDestinationPorts: [range(22)] }],
    ],
    [
      'ICMP',
      { services: [{ protocol: 1 }], icmp: { type: 8 } },
      [{ protocol: 1, family: 4, icmp: { type: 8 } }],
    ],
    [
      'source ports',
      { services: [{ protocol: 'udp' }], sourcePorts: [range(53)] },
      [{ protocol: 'udp', sourcePorts: [range(53)] }],
    ],
  ])('%s', (_, rest, wanted) => {
    expect(rulesOf(rest).map(shapeOf)).toEqual(wanted);
  });
});

describe('endpoints', () => {
  const ids = (compiler: PolicyCompiler) =>
    compiler.state.endpoints.get('a/web')!.ingress.tiers.map(({ tier, policies }) => [tier, ...policies]);

  it('have their tiers in order, and policies by order and name', () => {
    const at = (name: string, rest: Partial<Policy>) => policy(name, { ingress: [], ...rest });
    const compiler = compile(
      own,
      at('z', { tier: 'baseline' }),
      at('b', { order: 10 }),
      at('last', {}),
      at('a', { order: 10 }),
      at('first', { tier: 'admin' }),
      at('blue', { tier: 'blue' }),
      { topic: 'tier', key: 'blue', value: { name: 'blue', order: 5, end: 'pass' } },
    );
    expect(ids(compiler)).toEqual([
      ['admin', 'first'],
      ['blue', 'blue'],
      ['default', 'a', 'b', 'last'],
      ['baseline', 'z'],
    ]);
    const delta = compiler.apply([
      { topic: 'tier', key: 'blue', value: { name: 'blue', order: 2_000_000, end: 'deny' } },
    ]);
    expect(delta.endpoints.map(({ key }) => key)).toEqual(['a/web']);
    expect(ids(compiler).map(([tier]) => tier)).toEqual(['admin', 'default', 'blue', 'baseline']);
  });

  it('are closed by a broken policy in the directions that it governs', () => {
    const compiler = compile(own, policy('p', { ingress: [rule()], broken: 'not understood' }));
    const decide = (direction: 'ingress' | 'egress') =>
      decideConnection(compiler.state, {
        direction,
        endpoint: compiler.state.endpoints.get('a/web')!,
        connection: { source: '10.0.0.1', destination: '10.0.0.1', protocol: 'tcp', destinationPort: 80 },
      });
    expect(decide('ingress')).toMatchObject({ verdict: 'deny', reason: 'broken', policy: 'p' });
    expect(decide('egress')).toEqual({ verdict: 'allow', reason: 'default' });
  });

  it('are closed by a policy that no rules can say', () => {
    const compiler = compile(
      own,
      policy('p', { ingress: [rule({ notServices: [{ protocol: 'tcp' }, { protocol: 'udp' }] })] }),
    );
    expect(compiler.state.policies.get('p')).toMatchObject({
      broken: expect.stringContaining('protocols') as string,
      ingress: [{ action: 'deny' }],
    });
  });

  it('of the host have host policies, and end closed', () => {
    const compiler = compile(
      {
        topic: 'host-endpoint',
        key: 'eth',
        value: {
          name: 'eth',
          labels: { edge: 'yes' },
          node: 'node-1',
          interfaceName: 'eth0',
          expectedIPs: [],
          profiles: [],
        },
      },
      policy('p', { subjects: [{ is: 'host-endpoints', labels: label('edge', 'yes') }], ingress: [] }),
    );
    const endpoint = compiler.state.endpoints.get('*host/eth')!;
    expect(endpoint.link).toBe('eth0');
    expect(endpoint.ingress).toMatchObject({ tiers: [{ policies: ['p'] }], end: 'deny' });
    expect(compiler.apply([gone('host-endpoint', 'eth')])).toMatchObject({
      endpointsRemoved: ['*host/eth'],
      policiesRemoved: ['p'],
    });
  });

  it('of the host are open by the profile that Calico builds in, until an object of its name says otherwise', () => {
    const name = 'projectcalico-default-allow';
    const value = { name: 'eth', labels: {}, node: 'node-1', interfaceName: '*', expectedIPs: [] };
    const compiler = compile({ topic: 'host-endpoint', key: 'eth', value: { ...value, profiles: [name] } });
    const verdict = (direction: 'ingress' | 'egress'): string => {
      const endpoint = compiler.state.endpoints.get('*host/eth')!;
      const connection = { source: '192.0.2.1', destination: '192.0.2.2', protocol: 'tcp' } as const;
      return decideConnection(compiler.state, { direction, endpoint, connection }).verdict;
    };
    expect([verdict('ingress'), verdict('egress')]).toEqual(['allow', 'allow']);
    const reference = { apiVersion: 'projectcalico.org/v3', kind: 'Profile', name };
    const own = { name, reference, labelsToApply: {}, ingress: [rule({ action: 'deny' })], egress: [] };
    compiler.apply([{ topic: 'profile', key: name, value: own }]);
    expect([verdict('ingress'), verdict('egress')]).toEqual(['deny', 'deny']);
    compiler.apply([gone('profile', name)]);
    expect([verdict('ingress'), verdict('egress')]).toEqual(['allow', 'allow']);
  });

  it('follow the labels of their namespace', () => {
    const compiler = compile(own, policy('p', { subjects: [pods(label('team', 'red'), all)], ingress: [] }));
    expect(ids(compiler)).toEqual([]);
    compiler.apply([{ topic: 'namespace', key: 'a', value: { name: 'a', labels: { team: 'red' } } }]);
    expect(ids(compiler)).toEqual([['default', 'p']]);
  });
});

describe('dependsOnLabels', () => {
  it.each<[string, Partial<Policy>, boolean]>([
    ['a subject with labels', { subjects: [pods(inNamespace('a'), label('app', 'web'))] }, true],
    ['a subject in another namespace', { subjects: [pods(inNamespace('b'), label('app', 'web'))] }, false],
    ['everything of the namespace', { subjects: [pods(inNamespace('a'), all)] }, false],
    [
      'a peer with labels',
      { subjects: [], ingress: [rule({ source: [{ peers: [pods(all, label('app', 'web'))] }] })] },
      true,
    ],
  ])('%s', (_, rest, wanted) => {
    const compiler = compile(policy('p', rest));
    expect(compiler.dependsOnLabels('a')).toBe(wanted);
    compiler.apply([gone('policy', 'p')]);
    expect(compiler.dependsOnLabels('a')).toBe(false);
  });
});

describe('decidePath', () => {
  const compiler = compile(
    own,
    other,
    policy('p', {
      subjects: [pods(all, all)],
      ingress: [rule({ source: [{ peers: [pods(inNamespace('a'), all)] }] })],
    }),
  );
  const [web, db] = ['a/web', 'b/db'].map((key) => compiler.inspect(key)!);
  const connect = (source: string, destination: string) =>
    ({ source, destination, protocol: 'tcp', destinationPort: 80 }) as const;

  it('asks both ends, each where it is', () => {
    expect(
      decidePath({ connection: connect('10.0.0.1', '10.0.0.2'), source: web, destination: db }),
    ).toMatchObject({
      verdict: 'allow',
      ingress: { reason: 'rule', policy: 'p', path: 'spec.ingress[0]', tier: 'default' },
    });
    expect(
      decidePath({ connection: connect('10.0.0.2', '10.0.0.1'), source: db, destination: web }),
    ).toMatchObject({
      verdict: 'deny',
      ingress: { reason: 'end-of-tier', tier: 'default' },
    });
  });

  it.each([
    ['node-1', 'allow'],
    ['node-2', 'deny'],
    [undefined, 'deny'],
  ])('from %s: %s', (sourceNode, verdict) => {
    expect(
      decidePath({ connection: connect('192.0.2.1', '10.0.0.1'), destination: web, sourceNode }).verdict,
    ).toBe(verdict);
  });

  it('lets a pod reach itself', () => {
    expect(
      decidePath({ connection: connect('10.0.0.2', '10.0.0.2'), source: db, destination: db }).verdict,
    ).toBe('allow');
  });
});

describe('two hundred pods and two hundred pods', () => {
  it('by namespace selector in both directions cost an element each', () => {
    const many = (namespace: string, third: number) =>
      Array.from({ length: 200 }, (_, index) => pod(`${namespace}/p${index}`, `10.0.${third}.${index}`));
    const between = (name: string, from: string, to: string) =>
      policy(name, {
        subjects: [pods(inNamespace(from), all)],
        ingress: [rule({ source: [{ peers: [pods(inNamespace(to), all)] }] })],
        egress: [rule({ destination: [{ peers: [pods(inNamespace(to), all)] }] })],
      });
    const { state } = compile(
      ...many('a', 1),
      ...many('b', 2),
      between('p', 'a', 'b'),
      between('q', 'b', 'a'),
    );
    const elements = [...state.sets.values()].reduce((sum, { members }) => sum + members.size, 0);
    const rules = [...state.policies.values()].flatMap(({ ingress = [], egress = [] }) => [
      ...ingress,
      ...egress,
    ]);
    expect([elements, rules.length]).toEqual([400, 8]);
  });
});
