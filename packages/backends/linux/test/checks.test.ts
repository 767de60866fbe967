import type { Statement } from '@podwire/nftables';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeResources, podResources } from '../src/fake/index.js';
import { linuxKinds, linuxRegistry } from '../src/index.js';
import { tunnelResources } from './tunnel-resources.js';

const { check } = linuxRegistry;
const one = (kind: string): object =>
  [...nodeResources, ...podResources(1), ...tunnelResources()].find((resource) => resource.kind === kind)!;

describe('a resource that is read from a file', () => {
  test('passes as it was written', () => {
    for (const resource of [...nodeResources, ...podResources(1), ...tunnelResources()])
      expect(check(JSON.parse(JSON.stringify(resource))), resource.kind).toBeUndefined();
  });

  test('passes with every statement of a rule', () => {
    expect(check(setResource)).toBeUndefined();
    const statements: readonly Statement[] = [
      { is: 'match', field: 'iifname', value: 'cali*' },
      { is: 'match', field: 'mark', op: '!=', value: 1, mask: 3 },
      { is: 'range', field: 'th dport', first: 1, last: 9 },
      { is: 'ct-state', states: ['new'] },
      { is: 'ct-status', status: 'dnat' },
      { is: 'lookup', fields: ['ip saddr', 'th dport'], set: 's', negate: true },
      { is: 'vmap', fields: ['iifname'], map: 'm' },
      { is: 'counter' },
      { is: 'log', group: 5, prefix: 'p', snaplen: 64 },
      { is: 'limit', perSecond: 1, burst: 2 },
      { is: 'notrack' },
      { is: 'set-mark', target: 'ct mark', value: 1 },
      { is: 'accept' },
      { is: 'jump', chain: 'c' },
    ];
    expect(check(chainOf(statements))).toBeUndefined();
  });

  test('may have fields of a later version', () => {
    expect(check({ ...one('ifb'), colour: 'green' })).toBeUndefined();
  });

  test.each([
    ['kind: no resource', null],
    ['kind: no backend has resources of this kind', { kind: 'flow' }],
    ['kind: no backend has resources of this kind', { kind: 'constructor' }],
    ['host: no object', { ...one('veth'), host: null }],
    ['host.name: no name of a link', { ...one('veth'), host: { name: '../x', mac: '02:00:00:00:00:01' } }],
    ['pod.mac: no MAC address', { ...one('veth'), pod: { name: 'eth0', mac: '2:0:0:0:0:1' } }],
    ['mtu: no number of 0 to 9007199254740991', { ...one('ifb'), mtu: -1 }],
    ['in: none of host, pod', { ...one('link-up'), in: 'world' }],
    ['feature: none of tx-checksumming', { ...one('link-feature'), feature: 'rx' }],
    ['address: no ADDRESS/LENGTH', { ...one('address'), address: '10.0.0.1/33' }],
    ['gateway: no address', { ...one('route'), gateway: 'fe80::1%eth0' }],
    ['value: no text of 1 to 255 characters', { ...one('sysctl'), value: 1 }],
    ['key: no list of at least 1', { ...one('nft-element'), key: [] }],
    ['key.0.type: none of', { ...one('nft-element'), key: [{ type: 'colour', value: 1 }] }],
    ['chain.rules.0.statements.0.field: none of', withStatement({ is: 'match', field: 'ip ttl', value: 1 })],
    ['chain.rules.0.statements.0.is: none of', withStatement({ is: 'reject' })],
    ['chain.rules.0.statements: no list of at least 1', chainOf([])],
    ['set.key.0: none of', { ...setResource, set: { name: 's', key: ['ipv4_interval'] } }],
    ['set.data: no list', { ...setResource, set: { name: 's', key: ['mark'], data: 'mark' } }],
    ['value.0.value: no number of 0 to 65535', withValue({ type: 'inet_service', value: 65_536 })],
    ['value.0.value: no ADDRESS/LENGTH', withValue({ type: 'ipv4_interval', value: '10.0.0.0' })],
  ])('is refused because of its %s', (reason, value) => {
    expect(check(value)).toContain(reason);
  });

  test('is read or refused, whatever it is', () => {
    const kind = fc.constantFrom(...Object.keys(linuxKinds));
    const anything = fc.tuple(kind, fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          anything.map(([name, rest]) => ({ ...rest, kind: name })),
        ),
        (value) => {
          const problem = check(value);
          expect(problem === undefined || /^[\w.]+: ./.test(problem)).toBe(true);
        },
      ),
    );
  });
});

const setResource = {
  ...{ kind: 'nft-set', family: 'inet', table: 'podwire-policy' },
  set: { name: 's', key: ['mark'], data: 'verdict' },
};

const chainOf = (statements: readonly object[]): object => ({
  ...{ kind: 'nft-chain', family: 'inet', table: 'podwire-policy' },
  chain: { name: 'c', rules: [{ statements }] },
});

function withStatement(statement: object): object {
  return chainOf([statement]);
}

function withValue(part: object): object {
  return { ...one('nft-element'), value: [part] };
}
