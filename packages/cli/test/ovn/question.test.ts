import { describe, expect, it } from 'vitest';
import { buildMicroflow, findEnds, isEnd } from '../../src/ovn/question.js';
import { askFor, places } from './logical-network.js';

const tcp = { protocol: 'tcp', port: 80 } as const;

describe('the ends of a packet', () => {
  it.each([
    ['pod/shop/web', 'bank/db', '10.16.0.2', '10.17.0.2'],
    ['shop/web', 'fd17:0::2', 'fd16::2', 'fd17::2'],
    ['fd16::2', 'bank/db', 'fd16::2', 'fd17::2'],
    ['10.16.0.2', '198.51.100.7', '10.16.0.2', '198.51.100.7'],
  ])('gives the packet from %s to %s addresses of one family', (from, to, source, target) => {
    const ends = findEnds(from, to, places);
    expect([ends.from.name, ends.from.address, ends.to.address]).toEqual(['web.shop', source, target]);
  });

  it.each([
    ['shop/none', 'bank/db', 'POD_UNKNOWN', 'the logical network has no pod shop/none'],
    ['shop/web', 'none', 'POD_UNKNOWN', 'the logical network has no pod none'],
    ['10.16.0.9', '10.16.0.2', 'POD_UNKNOWN', 'the logical network has no pod 10.16.0.9'],
    ['bank/old', 'fd16::2', 'REQUEST_INVALID', 'bank/old and fd16::2 have no family of addresses in common'],
  ])('refuses a packet from %s to %s', (from, to, code, message) => {
    expect(() => findEnds(from, to, places)).toThrow(expect.objectContaining({ code, message }));
  });

  it.each([
    ['shop/web', true],
    ['fd16::2', true],
    ['fe80::1%eth0', false],
    ['10.16.0', false],
    ['web" || 1', false],
  ])('takes %s for an end: %s', (text, expected) => {
    expect(isEnd(text)).toBe(expected);
  });
});

describe('the expression', () => {
  const red = 'inport == "web.shop" && eth.src == 00:00:00:00:03:01';
  const old = 'inport == "old.bank" && eth.src == 00:00:00:00:03:04';

  it.each([
    [
      'goes to the MAC of a pod of the same subnet',
      askFor('shop/web', 'shop/app', tcp),
      `${red} && eth.dst == 00:00:00:00:03:02 && ip4.src == 10.16.0.2 && ip4.dst == 10.16.0.3 && ip.ttl == 64 && tcp.src == 50000 && tcp.dst == 80`,
    ],
    [
      'goes to the MAC of the gateway for everything else',
      askFor('shop/web', '198.51.100.7', { protocol: 'udp', port: 53 }),
      `${red} && eth.dst == 00:00:00:00:01:02 && ip4.src == 10.16.0.2 && ip4.dst == 198.51.100.7 && ip.ttl == 64 && udp.src == 50000 && udp.dst == 53`,
    ],
    [
      'is an echo request of IPv6',
      askFor('shop/web', 'fd17::2'),
      `${red} && eth.dst == 00:00:00:00:01:02 && ip6.src == fd16::2 && ip6.dst == fd17::2 && ip.ttl == 64 && icmp6.type == 128 && icmp6.code == 0`,
    ],
    [
      'is an echo request of IPv4, without a gateway',
      askFor('bank/old', '10.18.0.2'),
      `${old} && eth.dst == 00:00:00:00:03:04 && ip4.src == 10.18.0.2 && ip4.dst == 10.18.0.2 && ip.ttl == 64 && icmp4.type == 8 && icmp4.code == 0`,
    ],
  ])('%s', (_, question, expression) => {
    expect(buildMicroflow(question, places)).toEqual({ datapath: question.from.switch, expression });
  });

  it('is refused where the gateway is outside of OVN', () => {
    expect(() => buildMicroflow(askFor('bank/old', '198.51.100.7'), places)).toThrow(
      'the gateway of subnet outer is outside of OVN',
    );
  });
});
