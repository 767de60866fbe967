/** Traces that a real ovn-trace has printed, as they are explained. */
import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import { describeDecision } from '../../src/ovn/decisions.js';
import { buildMicroflow } from '../../src/ovn/question.js';
import { renderLogicalTrace } from '../../src/ovn/trace-render.js';
import { readTrace } from '../../src/ovn/trace-text.js';
import { viewTrace } from '../../src/ovn/trace-view.js';
import { askFor, places, readRecorded, viewRecorded } from './logical-network.js';

const tcp = { protocol: 'tcp', port: 80 } as const;

describe('reading a trace', () => {
  it('keeps pipelines, flows and their actions', () => {
    expect(readTrace(readRecorded('spoof'))).toEqual({
      passes: [
        {
          ...{ pipeline: 'ingress', datapath: 'red', inport: 'web.shop' },
          flows: [
            {
              ...{ stage: 'ls_in_check_port_sec', match: '1', priority: 50 },
              actions: ['reg0[15] = check_in_port_sec()', 'next'],
            },
            { stage: 'ls_in_apply_port_sec', match: 'reg0[15] == 1', priority: 50, actions: ['drop'] },
          ],
        },
      ],
    });
  });

  it.each([
    ['nopod', 'arp'],
    ['reject', 'tcp_reset'],
    ['same', undefined],
  ])('ends where OVN makes a packet of its own: %s', (name, made) => {
    expect(readTrace(readRecorded(name))!.made).toBe(made);
  });

  it('reads lines of source behind a stage, and stages without a flow', () => {
    const text = `ingress(dp="red", inport="web.shop")\n---\n 0. ls_in_x (northd.c:8432): ip, priority 5, uuid 0a\n    next;\n 1. ls_in_y: no match (implicit drop)\n`;
    expect(readTrace(text)!.passes[0]!.flows).toEqual([
      { stage: 'ls_in_x', match: 'ip', priority: 5, actions: ['next'] },
      { stage: 'ls_in_y', actions: [] },
    ]);
  });

  it('finds no trace in an error', () => {
    expect(readTrace('unknown datapath "blue"\n')).toBeUndefined();
  });
});

describe('what becomes of a packet', () => {
  it.each([
    [
      'same',
      askFor('shop/web', 'shop/app', tcp),
      'delivered',
      'reaches app.shop on node n2 through a tunnel',
    ],
    [
      ...(['acl', askFor('shop/web', 'bank/db', tcp), 'dropped'] as const),
      'dropped by the ACL "ip" (priority 1000) of subnet blue (private)',
    ],
    [
      ...(['reject', askFor('shop/web', 'shop/app', { protocol: 'tcp', port: 81 }), 'dropped'] as const),
      'refused by the ACL "outport == "app.shop" && tcp.dst == 81" (priority 1500) of subnet red',
    ],
    ['out', askFor('shop/web', '198.51.100.7'), 'sent', 'leaves through the node n1 (join)'],
    ['six', askFor('shop/web', '2001:db8::7'), 'sent', 'leaves through the node n1 (join)'],
    ['out', askFor('shop/web', '100.64.0.2'), 'delivered', 'reaches the node n1'],
    [
      ...(['policy', askFor('bank/db', '198.51.100.7', { protocol: 'udp', port: 53 }), 'dropped'] as const),
      'dropped by the policy "ip4.src == 10.17.0.0/16" (priority 29000) of router ovn-cluster',
    ],
    [
      ...(['back', askFor('bank/db', 'fd16::2', { protocol: 'udp', port: 53 }), 'delivered'] as const),
      'reaches web.shop on node n1 through a tunnel',
    ],
    [
      ...(['nopod', askFor('shop/web', '10.17.0.9', tcp), 'dropped'] as const),
      'dropped: router ovn-cluster finds no port with the address 10.17.0.9',
    ],
    [
      ...(['noroute', askFor('shop/web', '203.0.113.1', tcp), 'dropped'] as const),
      'dropped: 203.0.113.1 is in no route of router ovn-cluster',
    ],
    ['spoof', askFor('shop/web', '10.17.0.9', tcp), 'dropped', 'dropped by the port security of subnet red'],
    ['gw', askFor('shop/web', '10.16.0.1'), 'answered', 'the router ovn-cluster answers'],
  ])('is said for the trace %s', (name, question, outcome, verdict) => {
    expect(viewRecorded(name, question)).toMatchObject({ outcome, verdict });
  });

  it.each([
    ['localnet', 'leaves through localnet.red for the network outside of OVN'],
    ['', 'leaves by the logical port localnet.red, which is of no pod and no node that the store knows'],
  ])('is said for a port of type "%s" that the store does not know', (type, verdict) => {
    const text = readRecorded('same').replace('"app.shop", type ""', `"localnet.red", type "${type}"`);
    const question = askFor('shop/web', 'shop/app', tcp);
    const microflow = buildMicroflow(question, places);
    expect(viewTrace({ question, microflow, places }, readTrace(text)!)).toMatchObject({
      outcome: 'sent',
      verdict,
    });
  });
});

const render = (name: string, question: ReturnType<typeof askFor>): string[] =>
  renderLogicalTrace(viewRecorded(name, question), { width: 120, paint: createColors(false) });

describe('a trace for people', () => {
  it('shows each datapath with what decides there', () => {
    expect(render('acl', askFor('shop/web', 'bank/db', tcp))).toEqual([
      'TCP from pod shop/web (10.16.0.2) to pod bank/db (10.17.0.2:80)',
      '',
      'DATAPATH             STAGE                   DECISION',
      'switch red           ls_out_apply_port_sec   output to red-ovn-cluster',
      'router ovn-cluster   lr_in_ip_routing        route 10.17.0.0/16: connected, by ovn-cluster-blue',
      '                     lr_in_policy            policy ip4.dst == 10.17.0.0/16 (priority 31000): allow',
      '                     lr_in_arp_resolve       the next hop has MAC 00:00:00:00:03:03',
      '                     lr_out_delivery         output to ovn-cluster-blue',
      'switch blue          ls_out_acl              ACL ip (priority 1000): drop',
      '',
      'dropped by the ACL "ip" (priority 1000) of subnet blue (private)',
    ]);
  });

  it.each([
    ['out', 'route 0.0.0.0/0: via 100.64.0.1, by ovn-cluster-join'],
    ['out', 'policy ip4.src == $red.n1_ip4 (priority 29000): reroute to 100.64.0.2'],
    ['six', 'policy ip6.src == $red.n1_ip6 (priority 29000): reroute to fd64::2'],
    ['policy', 'policy ip4.src == 10.17.0.0/16 (priority 29000): drop'],
    ['gw', 'the router answers'],
    ['nopod', 'the MAC of the next hop is not known: the router asks for it'],
    ['reject', 'ACL outport == "app.shop" && tcp.dst == 81 (priority 1500): reject'],
    ['noroute', 'no route: drop'],
    ['spoof', 'port security: the addresses are not those of the port: drop'],
    ['back', 'ACL outport == "blue-ovn-cluster" (priority 1001): allow'],
  ])('shows a decision of the trace %s: %s', (name, decision) => {
    expect(render(name, askFor('shop/web', '198.51.100.7')).join('\n')).toContain(decision);
  });

  it('puts an address of IPv6 with a port into brackets', () => {
    const question = askFor('bank/db', 'fd16::2', { protocol: 'udp', port: 53 });
    expect(render('back', question)[0]).toBe('UDP from pod bank/db (fd17::2) to pod shop/web ([fd16::2]:53)');
  });
});

it.each([
  ['lr_in_dnat', 'ct_dnat(10.16.0.3)', 'ct_dnat(10.16.0.3)'],
  ['lr_out_snat', 'ct_snat(198.51.100.9)', 'ct_snat(198.51.100.9)'],
  ['ls_in_lb', 'ct_lb_mark(backends=10.16.0.3:80)', 'ct_lb_mark(backends=10.16.0.3:80)'],
  ['lr_in_policy_ecmp', 'reg0 = 100.64.0.2', 'one of several ways: 100.64.0.2'],
  ['ls_out_acl_hint', 'next', undefined],
  ['ls_in_l2_unknown', 'drop', 'ip: drop'],
])('describes a flow of %s with the action %s', (stage, action, text) => {
  const actions = action === 'drop' ? [action] : [action, 'next'];
  expect(describeDecision({ stage, match: 'ip', priority: 100, actions })?.text).toBe(text);
});

it('describes a stage in which no flow matches as the end', () => {
  expect(describeDecision({ stage: 'lr_in_admission', actions: [] })).toEqual({
    ...{ stage: 'lr_in_admission', text: 'no flow matches: drop', isEnd: true },
  });
});
