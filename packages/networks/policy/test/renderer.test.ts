/** Packets on their way through the rendered table. */
import type { RulePacket } from '@podwire/nftables/interpret';
import type { CompiledDelta, CompiledRule } from '@podwire/policy';
import type { Resource } from '@podwire/engine';
import { createPolicyRenderer } from '../src/index.js';
import { describe, expect, it } from 'vitest';
import { link, makeRenderer, nothing, open, pod, policy, rule, run, tcp, tiers } from './fixtures.js';

const both = [link('cali1', 'ns/a'), link('cali2', 'ns/b')];

function verdict(delta: Partial<CompiledDelta>, packet: RulePacket = tcp, hook?: 'input'): string {
  const renderer = makeRenderer();
  renderer.apply({ ...nothing, ...delta }, both);
  return run(renderer.resources, packet, hook).verdict;
}

const ingressOf = (
  rules: readonly CompiledRule[],
  sets: CompiledDelta['sets'] = [],
): Partial<CompiledDelta> => ({
  sets,
  policies: [policy('p', { ingress: rules })],
  endpoints: [
    pod('ns/a'),
    pod('ns/b', { ingress: tiers({ tier: 'default', policies: ['p'], end: 'deny' }) }),
  ],
});

describe('links', () => {
  it('all pods are closed before anything is known, and other traffic is not', () => {
    const { resources } = makeRenderer();
    const outcome = run(resources, tcp);
    expect(outcome).toMatchObject({ verdict: 'drop', logs: ['podwire egress unknown-link'] });
    expect(run(resources, { ...tcp, inLink: 'eth0', outLink: 'eth1' }).verdict).toBe('accept');
    expect(run(resources, { ...tcp, inLink: 'eth0' }).logs).toEqual(['podwire ingress unknown-link']);
  });

  it('a link whose pod is not compiled is closed', () => {
    expect(verdict({ endpoints: [pod('ns/a')] })).toBe('drop');
    expect(verdict({ endpoints: [pod('ns/a'), pod('ns/b')] })).toBe('accept');
  });

  it('a link that goes is closed again', () => {
    const renderer = makeRenderer();
    renderer.apply({ ...nothing, endpoints: [pod('ns/a'), pod('ns/b')] }, both);
    const { add, remove } = renderer.apply(nothing, [{ link: 'cali2', value: undefined }]);
    expect([add.length, remove.length]).toEqual([0, 2]);
    expect(run(renderer.resources, tcp).verdict).toBe('drop');
  });

  it('sources come, change and go with the link, in the same delta', () => {
    const sourceOf = (name: string, address: string): Resource => ({
      ...{ kind: 'nft-element', family: 'inet', table: 'elsewhere', set: 'sources' },
      key: [
        { type: 'ifname', value: name },
        { type: 'ipv4_addr', value: address },
      ],
    });
    const planSources = (name: string, all: readonly string[]) => all.map((one) => sourceOf(name, one));
    const renderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 100, planSources });
    const isSource = (resource: Resource): boolean =>
      resource.kind === 'nft-element' && resource.table === 'elsewhere';
    const change = (addresses: readonly string[] | undefined) => {
      const value = addresses && { ...link('cali1', 'ns/a').value, addresses };
      const { add, remove } = renderer.apply({ ...nothing, endpoints: [pod('ns/a')] }, [
        { link: 'cali1', value },
      ]);
      return { add: add.filter(isSource), remove: remove.filter(isSource) };
    };
    const [first, second] = [sourceOf('cali1', '10.0.0.1'), sourceOf('cali1', '10.0.0.2')];
    expect(change(['10.0.0.1'])).toEqual({ add: [first], remove: [] });
    expect(change(['10.0.0.1'])).toEqual({ add: [], remove: [] });
    expect(change(['10.0.0.2'])).toEqual({ add: [second], remove: [first] });
    expect(renderer.resources.filter(isSource)).toEqual([second]);
    expect(change(undefined)).toEqual({ add: [], remove: [second] });
  });

  it('established connections go on, invalid packets do not, neighbour discovery always', () => {
    const closed = ingressOf([]);
    expect(verdict(closed)).toBe('drop');
    expect(verdict(closed, { ...tcp, state: 'established' })).toBe('accept');
    expect(verdict(ingressOf([rule('allow')]), { ...tcp, state: 'invalid' })).toBe('drop');
    const solicitation = {
      ...{ ...tcp, source: 'fe80::1', destination: 'fe80::2', protocol: 58 },
      ...{ sourcePort: undefined, destinationPort: undefined, icmp: { type: 135, code: 0 } },
    };
    expect(verdict(closed, solicitation)).toBe('accept');
  });

  it('what a pod sends to its own node is subject to its egress, and the node to its pods is to nothing', () => {
    const closed = { endpoints: [pod('ns/a', { egress: { ...open, end: 'deny' } }), pod('ns/b')] };
    const toNode = { ...tcp, outLink: undefined };
    expect(verdict(closed, toNode, 'input')).toBe('drop');
    expect(verdict({ endpoints: [pod('ns/a')] }, toNode, 'input')).toBe('accept');
    const hooks = makeRenderer().resources.flatMap((one) =>
      'chain' in one ? [(one.chain as { base?: { hook: string } }).base?.hook] : [],
    );
    expect(hooks).not.toContain('output');
  });
});

describe('rules', () => {
  const set = (type: 'addresses' | 'nets' | 'ports', add: string[], family: 4 | 6 = 4) => ({
    ...{ set: { id: 's', type, family, comment: 'some' }, add, remove: [] },
  });
  const udp = { ...tcp, protocol: 17 };
  const icmp = { ...tcp, protocol: 1, sourcePort: undefined, destinationPort: undefined };
  const echo = { ...icmp, icmp: { type: 8, code: 0 } };
  const ports = (...numbers: number[]) => numbers.map((first) => ({ first, last: first }));

  it.each<[string, Partial<CompiledRule>, RulePacket, string]>([
    ['anything', {}, tcp, 'accept'],
    ['the protocol', { protocol: 'tcp' }, tcp, 'accept'],
    ['another protocol', { protocol: 'udp' }, tcp, 'drop'],
    ['not the protocol', { notProtocol: 'tcp' }, tcp, 'drop'],
    ['not another protocol', { notProtocol: 'udp' }, tcp, 'accept'],
    ['the family', { family: 6 }, tcp, 'drop'],
    ['a port', { protocol: 'tcp', destinationPorts: ports(80) }, tcp, 'accept'],
    ['another port', { protocol: 'tcp', destinationPorts: ports(81) }, tcp, 'drop'],
    ['a range', { protocol: 'tcp', destinationPorts: [{ first: 70, last: 80 }] }, tcp, 'accept'],
    ['one of few', { protocol: 'tcp', destinationPorts: ports(81, 80) }, tcp, 'accept'],
    ['one of many', { protocol: 'tcp', destinationPorts: ports(1, 2, 3, 4, 80) }, tcp, 'accept'],
    ['none of many', { protocol: 'tcp', destinationPorts: ports(1, 2, 3, 4, 5) }, tcp, 'drop'],
    ['a port of any protocol', { destinationPorts: ports(80) }, udp, 'accept'],
    ['a port, of a packet without', { destinationPorts: ports(2048) }, echo, 'drop'],
    ['a port of a protocol without', { protocol: 1, destinationPorts: ports(80) }, echo, 'drop'],
    ['no such port', { protocol: 'tcp', notDestinationPorts: ports(80) }, tcp, 'drop'],
    ['no other port', { protocol: 'tcp', notDestinationPorts: ports(81, 82) }, tcp, 'accept'],
    ['no such port, without one', { notDestinationPorts: ports(2048) }, echo, 'accept'],
    ['source port', { protocol: 'tcp', sourcePorts: ports(40_000) }, tcp, 'accept'],
    ['no such source port', { protocol: 'tcp', notSourcePorts: ports(40_000) }, tcp, 'drop'],
    ['an echo', { icmp: { type: 8 } }, echo, 'accept'],
    ['another code', { icmp: { type: 8, code: 1 } }, echo, 'drop'],
    ['ICMP, of something else', { icmp: {} }, tcp, 'drop'],
    ['no echo', { protocol: 1, notIcmp: { type: 8, code: 0 } }, echo, 'drop'],
    ['no echo with another code', { protocol: 1, notIcmp: { type: 8, code: 1 } }, echo, 'accept'],
    ['no echo, of something else', { notIcmp: { type: 8 } }, tcp, 'accept'],
  ])('%s', (_, conditions, packet, expected) => {
    expect(verdict(ingressOf([rule('allow', conditions)]), packet)).toBe(expected);
  });

  it.each([
    ['addresses', ['10.0.0.1'], false, 'accept'],
    ['addresses', ['10.0.0.9'], false, 'drop'],
    ['addresses', ['10.0.0.1'], true, 'drop'],
    ['nets', ['10.0.0.0/24'], false, 'accept'],
    ['nets', ['10.0.1.0/24'], true, 'accept'],
  ] as const)('source in %s %j, negated %s: %s', (type, members, negate, expected) => {
    const source = [{ set: 's', negate }];
    expect(verdict(ingressOf([rule('allow', { family: 4, source })], [set(type, [...members])]))).toBe(
      expected,
    );
  });

  it('a set of ports is asked for the destination with protocol and port', () => {
    const delta = (member: string) =>
      ingressOf([rule('allow', { family: 4, destination: [{ set: 's' }] })], [set('ports', [member])]);
    expect(verdict(delta('10.0.0.2,tcp,80'))).toBe('accept');
    expect(verdict(delta('10.0.0.2,udp,80'))).toBe('drop');
  });
});

describe('tiers', () => {
  const passing = policy('pass', { ingress: [rule('pass', { protocol: 'tcp' })] }, { tier: 'admin' });
  const denying = policy('deny', { ingress: [rule('deny')] }, { tier: 'admin' });
  const allowing = policy('allow', { ingress: [rule('allow')] });
  const admin = (...policies: string[]) => ({ tier: 'admin', policies, end: 'pass' as const });
  const through = (ingress: ReturnType<typeof tiers>, packet = tcp) => {
    const renderer = makeRenderer();
    const policies = [passing, denying, allowing];
    renderer.apply({ ...nothing, policies, endpoints: [pod('ns/a'), pod('ns/b', { ingress })] }, both);
    const { verdict, logs } = run(renderer.resources, packet);
    return { verdict, reason: renderer.describeDrop?.(logs[0] ?? '') };
  };

  it('a pass skips the rest of its tier alone', () => {
    expect(through(tiers(admin('pass', 'deny'))).verdict).toBe('accept');
    expect(through(tiers(admin('pass', 'deny')), { ...tcp, protocol: 17 })).toEqual({
      verdict: 'drop',
      reason: { direction: 'ingress', reason: 'rule', policy: 'deny', tier: 'admin' },
    });
    const behind = { tier: 'default', policies: [], end: 'deny' as const };
    expect(through(tiers(admin('pass', 'deny'), behind))).toEqual({
      verdict: 'drop',
      reason: { direction: 'ingress', reason: 'end-of-tier', tier: 'default' },
    });
  });

  it('the first policy that decides counts', () => {
    expect(through(tiers(admin('allow', 'deny'))).verdict).toBe('accept');
    expect(through(tiers(admin('deny', 'allow'))).verdict).toBe('drop');
  });

  it('profiles come behind all tiers, then the default', () => {
    expect(through({ ...tiers(admin('pass')), profiles: ['allow'], end: 'deny' }).verdict).toBe('accept');
    expect(through({ ...tiers(admin('pass')), end: 'deny' }).reason).toEqual({
      direction: 'ingress',
      reason: 'default',
    });
  });

  it('a policy that begins to pass moves into its tiers', () => {
    const renderer = makeRenderer();
    const ingress = tiers(admin('allow', 'deny'));
    const delta = {
      ...nothing,
      policies: [allowing, denying],
      endpoints: [pod('ns/a'), pod('ns/b', { ingress })],
    };
    renderer.apply(delta, both);
    renderer.apply({ ...nothing, policies: [policy('allow', { ingress: [rule('pass')] })] }, []);
    expect(run(renderer.resources, tcp).verdict).toBe('accept');
    renderer.apply({ ...nothing, policies: [policy('allow', { ingress: [] })] }, []);
    expect(run(renderer.resources, tcp).verdict).toBe('drop');
  });

  it('a broken policy says so', () => {
    const renderer = makeRenderer();
    const policies = [policy('p', { ingress: [rule('deny')] }, { broken: 'no such field' })];
    renderer.apply({ ...nothing, ...ingressOf([]), policies }, both);
    const { logs } = run(renderer.resources, tcp);
    expect(renderer.describeDrop?.(logs[0] ?? '')).toMatchObject({ reason: 'broken', policy: 'p' });
  });
});

describe('what a change costs', () => {
  const renderer = makeRenderer();
  const members = { set: { id: 's', type: 'addresses', family: 4, comment: '' }, remove: [] } as const;
  const first = ingressOf(
    [rule('allow', { family: 4, source: [{ set: 's' }] })],
    [{ ...members, add: ['10.0.0.1'] }],
  );
  renderer.apply({ ...nothing, ...first }, both);

  it('a peer of a pod is one element', () => {
    const { add, remove } = renderer.apply({ ...nothing, sets: [{ ...members, add: ['10.0.0.7'] }] }, []);
    expect(add.map(({ kind }) => kind)).toEqual(['nft-element']);
    expect(remove).toEqual([]);
  });

  it('a pod with the policies of another is two elements', () => {
    const { ingress } = first.endpoints![1]!;
    const { add } = renderer.apply({ ...nothing, endpoints: [pod('ns/c', { ingress })] }, [
      link('cali3', 'ns/c'),
    ]);
    expect(add.map(({ kind }) => kind)).toEqual(['nft-element', 'nft-element']);
  });

  it('a policy is one chain, and nothing where it is the same', () => {
    const changed = [policy('p', { ingress: [rule('allow')] })];
    const delta = { ...nothing, policies: changed };
    expect(renderer.apply(delta, []).add.map(({ kind }) => kind)).toEqual(['nft-chain']);
    expect(renderer.apply(delta, [])).toEqual({ add: [], remove: [] });
  });
});
