/** Packets of a node that has host endpoints, on their way through the rendered table. */
import type { Outcome, RulePacket } from '@podwire/nftables/interpret';
import type { CompiledDelta, CompiledEndpoint, CompiledPolicy, HostMode } from '@podwire/policy';
import { describe, expect, it } from 'vitest';
import { createPolicyRenderer } from '../src/index.js';
import { acceptedMark } from '../src/hosts/hooks.js';
import { makeRenderer, nothing, open, policy, rule, run, tiers } from './fixtures.js';

const direction = (...policies: string[]): CompiledEndpoint['ingress'] =>
  policies.length === 0
    ? { ...open, end: 'deny' }
    : { ...tiers({ tier: 'default', policies, end: 'deny' }), end: 'deny' };

const host = (link: string | undefined, ingress: string[] = [], egress: string[] = []): CompiledEndpoint => ({
  ...{ key: `*host/${link ?? 'none'}`, kind: 'host-endpoint', link },
  ...{ ingress: direction(...ingress), egress: direction(...egress) },
});

const ported = (
  id: string,
  port: number,
  mode: HostMode,
  action: 'allow' | 'deny' = 'allow',
): CompiledPolicy => {
  const rules = [rule(action, { protocol: 'tcp', destinationPorts: [{ first: port, last: port }] })];
  return policy(id, { ingress: rules, egress: rules }, { hostMode: mode });
};

const incoming: RulePacket = {
  ...{ source: '192.0.2.9', destination: '192.0.2.1', protocol: 6, sourcePort: 40_000, destinationPort: 80 },
  ...{ inLink: 'eth0', state: 'new' },
};
const outgoing: RulePacket = { ...incoming, inLink: undefined, outLink: 'eth0' };
const passing: RulePacket = { ...incoming, outLink: 'eth1' };

type Hook = Parameters<typeof run>[2] | 'output';

function outcome(delta: Partial<CompiledDelta>, packet: RulePacket, hook: Hook): Outcome {
  const renderer = makeRenderer();
  renderer.apply({ ...nothing, ...delta }, []);
  return run(renderer.resources, packet, hook as never);
}
const verdict = (...input: Parameters<typeof outcome>): string => outcome(...input).verdict;

describe('a host endpoint', () => {
  const closed = { endpoints: [host('eth0')] };
  it.each<[string, Partial<RulePacket>, string]>([
    ['a packet', {}, 'drop'],
    ['of an established connection', { state: 'established' }, 'accept'],
    ['to a failsafe port', { destinationPort: 22 }, 'accept'],
    ['DHCP', { protocol: 17, destinationPort: 68 }, 'accept'],
    ['the same port over UDP', { protocol: 17, destinationPort: 22 }, 'drop'],
    ['on another link', { inLink: 'eth1' }, 'accept'],
    ['of a tunnel', { protocol: 17, destinationPort: 4789, state: 'untracked' }, 'drop'],
    [
      'neighbour discovery',
      { source: 'fe80::1', destination: 'fe80::2', protocol: 58, icmp: { type: 135, code: 0 } },
      'accept',
    ],
    [
      'a report of multicast listeners',
      { source: 'fe80::1', destination: 'ff02::16', protocol: 58, icmp: { type: 143, code: 0 } },
      'accept',
    ],
    [
      'a ping over IPv6',
      { source: 'fe80::1', destination: 'fe80::2', protocol: 58, icmp: { type: 128, code: 0 } },
      'drop',
    ],
  ])('without policy is closed: %s', (_, more, expected) => {
    expect(verdict(closed, { ...incoming, ...more }, 'input')).toBe(expected);
  });

  it('is closed for what the node sends, too, but for failsafe ports', () => {
    expect(verdict(closed, outgoing, 'output')).toBe('drop');
    expect(verdict(closed, { ...outgoing, destinationPort: 22 }, 'output')).toBe('drop');
    expect(verdict(closed, { ...outgoing, destinationPort: 2379 }, 'output')).toBe('accept');
    expect(verdict(closed, { ...outgoing, outLink: 'lo' }, 'output')).toBe('accept');
    expect(verdict(closed, { ...outgoing, outLink: 'cali1' }, 'output')).toBe('accept');
  });

  it('lets everything pass through the node', () => {
    expect(verdict(closed, passing, 'forward')).toBe('accept');
  });

  it('without a link is none', () => {
    expect(verdict({ endpoints: [host(undefined)] }, incoming, 'input')).toBe('accept');
  });

  it('for all links is that of those without one of their own', () => {
    const both = {
      endpoints: [host('*'), host('eth0', ['web'])],
      policies: [ported('web', 80, 'normal')],
    };
    expect(verdict(both, incoming, 'input')).toBe('accept');
    expect(verdict(both, { ...incoming, inLink: 'eth1' }, 'input')).toBe('drop');
    expect(verdict(both, { ...incoming, inLink: 'lo' }, 'input')).toBe('accept');
    expect(verdict(both, { ...incoming, inLink: 'cali1', state: 'established' }, 'input')).toBe('accept');
  });

  it('leaves nothing in the table when it goes', () => {
    const renderer = makeRenderer();
    const before = renderer.resources;
    const policies = [ported('a', 80, 'forward'), ported('b', 81, 'untracked'), ported('c', 82, 'pre-dnat')];
    const all = policies.map(({ id }) => id);
    renderer.apply({ ...nothing, policies, endpoints: [host('eth0', all, all)] }, []);
    expect(renderer.resources.length).toBeGreaterThan(before.length + 20);
    renderer.apply({ ...nothing, policiesRemoved: all, endpointsRemoved: ['*host/eth0'] }, []);
    expect(renderer.resources).toEqual(before);
  });

  it('has the failsafe ports and tunnels that the node was given', () => {
    const renderer = createPolicyRenderer({
      ...{ podLinkPrefixes: ['cali'], logGroup: 1, tunnelPorts: [4789] },
      failsafes: { ingress: [{ protocol: 'tcp', port: 2222 }], egress: [] },
    });
    renderer.apply({ ...nothing, endpoints: [host('eth0')] }, []);
    const comes = (more: Partial<RulePacket>): string =>
      run(renderer.resources, { ...incoming, ...more }, 'input').verdict;
    expect(comes({ destinationPort: 2222 })).toBe('accept');
    expect(comes({ destinationPort: 22 })).toBe('drop');
    const tunnel = { protocol: 17, destinationPort: 4789 } as const;
    expect(comes({ ...tunnel, state: 'untracked' })).toBe('accept');
    expect(comes(tunnel)).toBe('drop');
  });
});

describe('policies for packets that pass', () => {
  const delta = { endpoints: [host('eth0', ['web'], ['web'])], policies: [ported('web', 80, 'forward')] };
  it('close what they do not allow, failsafe ports too', () => {
    expect(verdict(delta, passing, 'forward')).toBe('accept');
    expect(verdict(delta, { ...passing, destinationPort: 22 }, 'forward')).toBe('drop');
    expect(verdict(delta, { ...passing, inLink: 'eth1', outLink: 'eth0' }, 'forward')).toBe('accept');
    expect(verdict(delta, { ...passing, inLink: 'eth1', destinationPort: 81 }, 'forward')).toBe('accept');
    const out = { ...passing, inLink: 'eth1', outLink: 'eth0', destinationPort: 81 };
    expect(verdict(delta, out, 'forward')).toBe('drop');
  });
  it('are for the node itself as well', () => {
    expect(verdict(delta, incoming, 'input')).toBe('accept');
    expect(verdict(delta, { ...incoming, destinationPort: 81 }, 'input')).toBe('drop');
  });
});

describe('policies in front of translation', () => {
  const allowing = { endpoints: [host('eth0', ['first'])], policies: [ported('first', 80, 'pre-dnat')] };
  it('allow for good: normal policy is not asked, and the mark does not stay', () => {
    const first = outcome(allowing, incoming, 'prerouting');
    expect(first).toMatchObject({ verdict: 'accept', mark: acceptedMark });
    const then = outcome(allowing, { ...incoming, mark: acceptedMark | 0x4000 }, 'input');
    expect(then).toMatchObject({ verdict: 'accept', mark: 0x4000 });
    expect(verdict(allowing, incoming, 'input')).toBe('drop');
  });
  it('leave no mark on what passes through, also where no policy is for that', () => {
    const then = outcome(allowing, { ...passing, mark: acceptedMark | 0x4000 }, 'forward');
    expect(then).toMatchObject({ verdict: 'accept', mark: 0x4000 });
  });
  it('close nothing by themselves', () => {
    const other = outcome(allowing, { ...incoming, destinationPort: 81 }, 'prerouting');
    expect(other.verdict).toBe('accept');
    expect(other.mark ?? 0).toBe(0);
  });
  it('deny before a port of the node becomes that of a pod', () => {
    const denying = { ...allowing, policies: [ported('first', 80, 'pre-dnat', 'deny')] };
    expect(verdict(denying, incoming, 'prerouting')).toBe('drop');
    expect(verdict(denying, { ...incoming, state: 'established' }, 'prerouting')).toBe('accept');
  });
});

describe('policies without tracking', () => {
  const delta = { endpoints: [host('eth0', ['dns'], ['dns'])], policies: [ported('dns', 80, 'untracked')] };
  it('allow for good in both directions', () => {
    const first = outcome(delta, incoming, 'prerouting');
    expect(first).toMatchObject({ verdict: 'accept', mark: acceptedMark });
    const then = outcome(delta, { ...incoming, state: 'untracked', mark: first.mark }, 'input');
    expect(then).toMatchObject({ verdict: 'accept', mark: 0 });
    expect(outcome(delta, outgoing, 'output')).toMatchObject({ verdict: 'accept', mark: 0 });
    expect(verdict(delta, incoming, 'input')).toBe('drop');
  });
  it('are not what others have taken out of tracking', () => {
    const other = { state: 'untracked', destinationPort: 81 } as const;
    expect(outcome(delta, { ...incoming, ...other }, 'prerouting').mark).toBe(0);
    expect(verdict(delta, { ...incoming, ...other }, 'input')).toBe('drop');
    expect(verdict(delta, { ...outgoing, ...other }, 'output')).toBe('drop');
  });
  it('never deny answers from failsafe ports', () => {
    const denying = {
      ...delta,
      policies: [
        policy('dns', { ingress: [rule('deny')], egress: [rule('deny')] }, { hostMode: 'untracked' }),
      ],
    };
    const answer: RulePacket = {
      ...incoming,
      ...{ state: 'established', sourcePort: 2379, destinationPort: 40_000 },
    };
    expect(verdict(denying, answer, 'prerouting')).toBe('accept');
    expect(verdict(denying, { ...answer, sourcePort: 2378 }, 'prerouting')).toBe('drop');
    expect(
      verdict(
        denying,
        { ...outgoing, state: 'established', sourcePort: 22, destinationPort: 40_000 },
        'output',
      ),
    ).toBe('accept');
  });
});
