import type {
  ConnectionVerdict,
  DirectionView,
  Drop,
  Explanation,
  HostPolicyView,
  PodPolicyView,
} from '@podwire/agent';
import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import { renderDrop, renderExplanation, renderHostPolicy, renderPodPolicy } from '../../src/policy/render.js';
import type { ProbeOutcome } from '../../src/policy/probe.js';

const plain = createColors(false);
/** A terminal would take this for a command: it must not arrive there. */
const evil = '\u001b[2Jx';

const closed: DirectionView = { isOpen: false, tiers: [], end: 'deny' };
const selecting = (hostMode?: 'untracked'): DirectionView['tiers'][number]['policies'][number] => ({
  ...{ policy: 'p', object: 'GlobalNetworkPolicy dns', tier: 'default', file: 'dns.yaml', line: 1 },
  rules: [{ action: 'allow', path: 'spec.ingress[0]', line: 7 }],
  ...(hostMode === undefined ? {} : { hostMode }),
});
const edge: HostPolicyView = {
  ...{ hostEndpoint: 'edge', link: 'eth0', supersededBy: null, egress: closed },
  ingress: {
    ...closed,
    tiers: [{ tier: 'default', end: 'deny', policies: [selecting('untracked'), selecting()] }],
  },
};
const render = (more: Partial<HostPolicyView> = {}): string[] =>
  renderHostPolicy({ ...edge, ...more }, plain);

describe('the policy of a host endpoint', () => {
  it('has its link, and where each policy looks at packets', () => {
    expect(render()).toEqual([
      'hostendpoint/edge  link eth0',
      'ingress:',
      '  tier default',
      '    GlobalNetworkPolicy dns  (without tracking)  dns.yaml:1',
      '      allow spec.ingress[0] (line 7)',
      '    GlobalNetworkPolicy dns  dns.yaml:1',
      '      allow spec.ingress[0] (line 7)',
      '    end: deny',
      '  then deny',
      'egress:',
      '  then deny',
    ]);
  });

  it.each<[string, Partial<HostPolicyView>, string]>([
    ['all links', { link: '*' }, 'all links without one of their own'],
    ['no link', { link: null }, 'not in force: no link has its addresses'],
    ['a link of another', { supersededBy: 'a' }, 'link eth0, not in force: hostendpoint/a is'],
  ])('says that it is for %s', (_, more, expected) => {
    expect(render(more)[0]).toBe(`hostendpoint/edge  ${expected}`);
  });
});

describe('the policy of a pod', () => {
  const open: DirectionView = { isOpen: true, tiers: [], end: 'allow' };
  const renderPod = (view: Partial<PodPolicyView>, name = 'shop/web'): string[] =>
    renderPodPolicy(name, { pod: {}, ingress: open, egress: open, ...view }, plain);

  it('is open where nothing governs a direction, and closed where nothing allows', () => {
    expect(renderPod({ egress: closed })).toEqual([
      'pod/shop/web',
      'ingress: open, no policy governs it',
      'egress:',
      '  then deny',
    ]);
  });

  it('has tiers in order, rules with their lines, and each end', () => {
    const rules = [
      { action: 'pass', path: 'spec.ingress[0]', line: 9 },
      { action: 'allow', path: 'spec.ingress[1]' },
    ];
    const tiers = [
      { tier: 'admin', end: 'pass', policies: [{ object: 'AdminNetworkPolicy a', file: 'a.yaml', rules }] },
      { tier: 'default', end: 'deny', policies: [{ object: 'NetworkPolicy shop/b', rules: [] }] },
    ];
    expect(renderPod({ ingress: { isOpen: false, tiers, end: 'allow' } }).slice(1, -1)).toEqual([
      'ingress:',
      '  tier admin',
      '    AdminNetworkPolicy a  a.yaml',
      '      pass  spec.ingress[0] (line 9)',
      '      allow spec.ingress[1]',
      '    end: pass',
      '  tier default',
      '    NetworkPolicy shop/b',
      '    end: deny',
      '  then allow',
    ]);
  });

  it('says of a policy that it is broken, and why', () => {
    const policies = [{ object: 'NetworkPolicy shop/b', broken: 'no such field', rules: [] }];
    const ingress = { isOpen: false, tiers: [{ tier: 'default', end: 'deny', policies }], end: 'deny' };
    expect(renderPod({ ingress })).toContain('      broken: no such field');
  });

  it('sends no control characters to the terminal', () => {
    const policies = [{ object: evil, file: evil, broken: evil, rules: [] }];
    const ingress = { isOpen: false, tiers: [{ tier: evil, end: 'deny', policies }], end: 'deny' };
    expect(renderPod({ ingress }, evil).join('\n')).not.toContain('\u001b');
  });
});

describe('the explanation of a connection', () => {
  const connection: ConnectionVerdict = {
    ...{ family: 4, source: '10.0.0.1', destination: '10.0.0.2', protocol: 'tcp', port: 80 },
    ...{ verdict: 'allow', reason: 'default' },
  };
  const renderAll = (each: Partial<ConnectionVerdict>, probes: readonly ProbeOutcome[] = []): string[] => {
    const one = { ...connection, ...each };
    const explanation: Explanation = { ...one, from: 'pod/a', to: 'pod/b', connections: [one], labels: {} };
    return renderExplanation(explanation, probes, plain);
  };
  const policy = { policy: 'p', object: 'NetworkPolicy shop/db', file: 'db.yaml', tier: 'default' };

  it.each<[string, Partial<ConnectionVerdict>, string]>([
    [
      'a rule',
      { reason: 'rule', ...policy, path: 'spec.ingress[0]', line: 7 },
      '80/tcp: allow by NetworkPolicy shop/db spec.ingress[0]  db.yaml:7',
    ],
    [
      'the end of a tier',
      { verdict: 'deny', reason: 'end-of-tier', ...policy, line: 1 },
      '80/tcp: deny by NetworkPolicy shop/db (the end of tier default: no rule matches)  db.yaml:1',
    ],
    [
      'the end of a tier whose policy has no file',
      { verdict: 'deny', reason: 'end-of-tier', tier: 'ops' },
      '80/tcp: deny by the end of tier ops: no rule matches',
    ],
    [
      'a broken policy',
      { verdict: 'deny', reason: 'broken', object: 'NetworkPolicy shop/db', path: 'spec' },
      '80/tcp: deny by NetworkPolicy shop/db spec (a policy that cannot be read)',
    ],
    [
      'the node itself',
      { reason: 'same-node' },
      '80/tcp: allow by the node, whose own pods it always reaches',
    ],
    ['a failsafe port', { reason: 'failsafe' }, '80/tcp: allow by a failsafe port, which no policy closes'],
    ['nothing', {}, '80/tcp: allow by default: no policy decides'],
    [
      'nothing, of a protocol without ports',
      { protocol: 'icmp', port: undefined },
      'icmp: allow by default: no policy decides',
    ],
  ])('names what decides: %s', (_, each, expected) => {
    expect(renderAll(each)[1]).toBe(`  10.0.0.1 to 10.0.0.2, ${expected}`);
  });

  it('begins with both ends and the verdict, and has a line for each family', () => {
    const connections = [connection, { ...connection, source: 'fd00::1', verdict: 'deny' as const }];
    const whole = { ...connections[1]!, from: 'pod/a', to: '10.0.0.2', connections, labels: {} };
    const lines = renderExplanation(whole, [], plain);
    expect(lines[0]).toBe('pod/a to 10.0.0.2: deny');
    expect(lines.slice(1).map((line) => line.trim().split(' ')[0])).toEqual(['10.0.0.1', 'fd00::1']);
  });

  it.each<[ProbeOutcome['found'], boolean | null, string]>([
    ['connected', true, 'connected, as expected'],
    ['no answer', false, 'no answer, which policy does not say'],
    ['no answer', null, 'no answer; a program that reads UDP need not answer'],
  ])('compares a probe: %s, %s', (found, agrees, expected) => {
    const lines = renderAll({}, [{ destination: '10.0.0.2', found, agrees }]);
    expect(lines.at(-1)).toBe(`  probe 10.0.0.2: ${expected}`);
  });

  it('sends no control characters to the terminal', () => {
    for (const each of [
      { object: evil, file: evil },
      { reason: 'end-of-tier', tier: evil },
    ] as const)
      expect(renderAll(each).join('\n')).not.toContain('\u001b');
  });
});

describe('a dropped packet', () => {
  const drop: Drop = {
    ...{ time: '2026-11-24T10:00:00.000Z', from: 'pod/shop/cron', to: 'pod/shop/db' },
    ...{ protocol: 'tcp', destinationPort: 5432, direction: 'ingress' },
    ...{ reason: 'end-of-tier', tier: 'default' },
  };
  const begin = '2026-11-24T10:00:00.000Z  pod/shop/cron to pod/shop/db';

  it.each<[string, Partial<Drop>, string]>([
    ['the end of a tier', {}, ' 5432/tcp  dropped by the end of tier default, ingress'],
    [
      'a rule of a policy',
      { reason: 'rule', policy: 'NetworkPolicy shop/a' },
      ' 5432/tcp  dropped by NetworkPolicy shop/a, ingress',
    ],
    [
      'a policy that is broken',
      { reason: 'broken', policy: 'NetworkPolicy shop/a' },
      ' 5432/tcp  dropped by NetworkPolicy shop/a, which cannot be read, ingress',
    ],
    ['another reason', { reason: 'spoofed', tier: undefined }, ' 5432/tcp  dropped by spoofed, ingress'],
    [
      'an unknown reason',
      { reason: undefined, tier: undefined, direction: undefined },
      ' 5432/tcp  dropped by policy',
    ],
    [
      'the link that it came in by',
      { inputLink: 'cali12' },
      ' 5432/tcp  dropped by the end of tier default, ingress, came in by cali12',
    ],
    [
      'the link without a direction',
      { inputLink: 'eth0', direction: undefined },
      ' 5432/tcp  dropped by the end of tier default, came in by eth0',
    ],
    [
      'a protocol without ports',
      { protocol: 'icmp', destinationPort: undefined },
      ' icmp  dropped by the end of tier default, ingress',
    ],
    [
      'a protocol without a name',
      { protocol: 47, destinationPort: undefined },
      ' protocol 47  dropped by the end of tier default, ingress',
    ],
    [
      'others left out',
      { suppressed: 3 },
      ' 5432/tcp  dropped by the end of tier default, ingress (3 more not shown)',
    ],
    ['none left out', { suppressed: 0 }, ' 5432/tcp  dropped by the end of tier default, ingress'],
  ])('shows %s', (_, more, expected) => {
    expect(renderDrop({ ...drop, ...more }, plain)).toBe(begin + expected);
  });

  it('that could not be read has question marks for its ends', () => {
    expect(renderDrop({ time: 'now' }, plain)).toBe('now  ? to ?  dropped by policy');
  });

  it('sends no control characters to the terminal', () => {
    const more = { from: evil, to: evil, policy: evil, inputLink: evil };
    expect(renderDrop({ ...drop, ...more }, plain)).not.toContain('\u001b');
  });
});
