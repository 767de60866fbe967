import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodSpec } from '@podwire/pod-spec';
import { dnsLimits, parseResolvConf, podDns } from '../../src/runtime-config/dns.js';
import { makePod } from './make-pod.js';

const node = {
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConfText: 'nameserver 192.0.2.1\nsearch corp.example example\noptions timeout:1\n',
};
const dns = (spec: Partial<PodSpec>, changes: Partial<typeof node> = {}) =>
  podDns(makePod(spec), { ...node, ...changes });
const ofNode = { servers: ['192.0.2.1'], searches: ['corp.example', 'example'], options: ['timeout:1'] };
const ofCluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example', 'example'],
  options: ['ndots:5'],
};
const quiet = { warnings: [] };

describe('resolv.conf', () => {
  test.each([
    ['', { servers: [], searches: [], options: [] }],
    [
      'nameserver 1.1.1.1 # one\n; nameserver 2.2.2.2\n\tnameserver\tfe80::1%eth0\n',
      { servers: ['1.1.1.1', 'fe80::1%eth0'] },
    ],
    ['search a. b .\n', { searches: ['a', 'b', '.'] }],
    ['search a\nsearch b c\n', { searches: ['b', 'c'] }],
    ['search a\ndomain b\n', { searches: ['b'] }],
    ['search a A a\n', { searches: ['a', 'A'] }],
    ['options a b:1\noptions c\n', { options: ['a', 'b:1', 'c'] }],
    ['nameserver\nsortlist 1.2.3.4\nnameservers 9.9.9.9\r\n', { servers: [] }],
  ])('%j', (text, expected) => {
    expect(parseResolvConf(text)).toEqual({ servers: [], searches: [], options: [], ...expected });
  });
});

describe('policies', () => {
  test.each([
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, ofCluster],
    ['ClusterFirst on the host network', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, ofNode],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, ofCluster],
    ['Default', { dnsPolicy: 'Default' }, ofNode],
    ['None', { dnsPolicy: 'None' }, { servers: [], searches: [], options: [] }],
  ] as const)('%s', (_, spec, expected) => expect(dns(spec)).toEqual({ ...expected, ...quiet }));

  test('without a cluster server the node’s are used, which is told to who asked for the cluster’s', () => {
    expect(dns({ dnsPolicy: 'ClusterFirst' }, { clusterDns: [] })).toEqual({ ...ofNode, ...quiet });
    const asked = { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true } as const;
    const { warnings, ...settings } = dns(asked, { clusterDns: [] });
    expect(settings).toEqual(ofNode);
    expect(warnings).toEqual([expect.stringContaining('no cluster DNS server')]);
  });

  test('without a cluster domain only the node’s searches are there', () => {
    expect(dns({}, { clusterDomain: '' }).searches).toEqual(ofNode.searches);
  });
});

describe('dnsConfig', () => {
  test('adds, without doubles, and options replace those of the same name', () => {
    const dnsConfig = {
      nameservers: ['10.96.0.10', '9.9.9.9'],
      searches: ['example', 'more'],
      options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }, { name: 'edns0', value: '' }],
    };
    expect(dns({ dnsConfig })).toEqual({
      servers: ['10.96.0.10', '9.9.9.9'],
      searches: [...ofCluster.searches, 'more'],
      options: ['ndots:2', 'rotate', 'edns0'],
      warnings: [],
    });
  });

  test('is all there is with None', () => {
    const dnsConfig = { nameservers: ['9.9.9.9'], searches: [], options: [] };
    expect(dns({ dnsPolicy: 'None', dnsConfig })).toMatchObject({ servers: ['9.9.9.9'], searches: [] });
  });
});

describe('limits', () => {
  const none = (config: Partial<NonNullable<PodSpec['dnsConfig']>>) =>
    dns({ dnsPolicy: 'None', dnsConfig: { nameservers: [], searches: [], options: [], ...config } });

  test('the fourth server is left out and named', () => {
    const { servers, warnings } = none({ nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'] });
    expect(servers).toHaveLength(3);
    expect(warnings).toEqual([expect.stringContaining('4.4.4.4')]);
  });

  test('32 domains are fine, one more is not', () => {
    const searches = Array.from({ length: 33 }, (_, index) => `d${index}`);
    expect(none({ searches: searches.slice(0, 32) })).toMatchObject({ warnings: [] });
    const cut = none({ searches });
    expect(cut.searches).toEqual(searches.slice(0, 32));
    expect(cut.warnings).toHaveLength(1);
  });

  test('2048 characters are fine, one more is not', () => {
    // Eight of 227 and seven blanks, and one that fills the line.
    const searches = Array.from({ length: 8 }, (_, index) => String(index).repeat(227));
    const rest = 2048 - (8 * 227 + 8);
    expect(none({ searches: [...searches, 'x'.repeat(rest)] }).searches).toHaveLength(9);
    const cut = none({ searches: [...searches, 'x'.repeat(rest + 1)] });
    expect(cut.searches).toEqual(searches);
    expect(cut.warnings).toHaveLength(1);
  });

  test('a domain that is no domain any more is left out alone', () => {
    const cut = none({ searches: ['a', 'x'.repeat(254), 'b'] });
    expect(cut.searches).toEqual(['a', 'b']);
    expect(cut.warnings).toHaveLength(1);
  });

  test('whatever is given, the limits hold, order is kept, and what is missing is told', () => {
    const domain = fc.stringMatching(/^[a-z]{1,260}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(domain, { maxLength: 40 }),
        fc.uniqueArray(fc.ipV4(), { maxLength: 6 }),
        (searches, nameservers) => {
          const result = none({ searches, nameservers });
          expect(result.servers).toEqual(nameservers.slice(0, dnsLimits.servers));
          expect(result.searches.join(' ').length).toBeLessThanOrEqual(dnsLimits.searchCharacters);
          expect(searches.filter((each) => result.searches.includes(each))).toEqual(result.searches);
          const complete =
            result.searches.length === searches.length && result.servers.length === nameservers.length;
          expect(result.warnings.length === 0).toBe(complete);
        },
      ),
    );
  });
});
