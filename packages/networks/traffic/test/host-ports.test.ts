import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { NftElement } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { claimsConflict, describeClaim, hostPortClaims, planHostPorts } from '@podwire/network-traffic';
import { dualStack, endpoint, mapping } from './fixtures.js';

const plan = (...portMappings: ReturnType<typeof mapping>[]): Resource[] =>
  planHostPorts(endpoint({ portMappings }), 'cali1');
const elements = (resources: readonly Resource[]): string[] =>
  resources
    .filter((resource): resource is NftElement => resource.kind === 'nft-element')
    .map(({ set, key, value }) => {
      const text = (values: NftElement['key']): string => values.map((one) => String(one.value)).join(' . ');
      return `${set}: ${text(key)}${value === undefined ? '' : ` : ${text(value)}`}`;
    });

test('a mapping is one element in each family, and the pod one hairpin', () => {
  expect(elements(plan(mapping()))).toEqual([
    'hostports4: tcp . 8080 : 10.244.0.2 . 80',
    'hostports6: tcp . 8080 : fd00:244::2 . 80',
    'hairpins4: 10.244.0.2 . 10.244.0.2',
    'hairpins6: fd00:244::2 . fd00:244::2',
  ]);
});

test('many mappings share the hairpin and the loopback settings', () => {
  const resources = plan(
    mapping(),
    mapping({ hostPort: 8081, protocol: 'udp' }),
    mapping({ protocol: 'sctp' }),
  );
  expect(elements(resources).filter((text) => text.startsWith('hairpins'))).toHaveLength(2);
  expect(resources.filter(({ kind }) => kind === 'sysctl')).toEqual([
    { kind: 'sysctl', in: 'host', key: 'net/ipv4/conf/cali1/route_localnet', value: '1' },
  ]);
  expect(resources.filter(({ kind }) => kind === 'route')).toHaveLength(1);
});

test.each([
  ['192.0.2.10', ['hostipports4: 192.0.2.10 . tcp . 8080 : 10.244.0.2 . 80']],
  ['2001:DB8:0::10', ['hostipports6: 2001:db8::10 . tcp . 8080 : fd00:244::2 . 80']],
  ['0.0.0.0', ['hostports4: tcp . 8080 : 10.244.0.2 . 80']],
  ['::', ['hostports6: tcp . 8080 : fd00:244::2 . 80']],
  ['', ['hostports4: tcp . 8080 : 10.244.0.2 . 80', 'hostports6: tcp . 8080 : fd00:244::2 . 80']],
])('hostIP %j restricts address and family', (hostIP, expected) => {
  expect(elements(plan(mapping({ hostIP }))).filter((text) => !text.startsWith('hairpins'))).toEqual(
    expected,
  );
});

test.each([
  ['192.0.2.10', []],
  ['127.0.0.1', ['sysctl']],
  ['127.0.0.2', ['sysctl']],
  ['2001:db8::10', []],
  ['::1', ['route']],
  [undefined, ['sysctl', 'route']],
])('loopback is opened only where a mapping answers on it: hostIP %j', (hostIP, kinds) => {
  const resources = plan(mapping(hostIP === undefined ? {} : { hostIP }));
  expect(resources.map(({ kind }) => kind).filter((kind) => kind === 'sysctl' || kind === 'route')).toEqual(
    kinds,
  );
});

test('only UDP connections are reset', () => {
  const resources = plan(mapping(), mapping({ protocol: 'udp', hostIP: '192.0.2.10', hostPort: 53 }));
  expect(resources.filter(({ kind }) => kind === 'conntrack-reset')).toEqual([
    { kind: 'conntrack-reset', protocol: 'udp', family: 4, address: '192.0.2.10', port: 53 },
  ]);
});

test('without mappings there is nothing', () => {
  expect(plan()).toEqual([]);
});

test('a pod of one family gets what is possible', () => {
  const leases = dualStack.slice(0, 1);
  const portMappings = [mapping(), mapping({ hostIP: '::', hostPort: 8081 })];
  expect(elements(planHostPorts(endpoint({ leases, portMappings }), 'cali1'))).toEqual([
    'hostports4: tcp . 8080 : 10.244.0.2 . 80',
    'hairpins4: 10.244.0.2 . 10.244.0.2',
  ]);
});

test('an address of a family that the pod does not have is refused', () => {
  const only4 = endpoint({
    leases: dualStack.slice(0, 1),
    portMappings: [mapping({ hostIP: '2001:db8::10' })],
  });
  expect(() => planHostPorts(only4, 'cali1')).toThrow(
    /portMappings\[0\]\.hostIP 2001:db8::10 .* the pod has none/,
  );
});

test('text that is no address is refused by its field', () => {
  const act = (): unknown => plan(mapping(), mapping({ hostIP: '1.2.3.256' }));
  expect(act).toThrow('portMappings[1].hostIP is no IP address: "1.2.3.256"');
  expect(act).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
});

test('a mapping given twice counts once, with two destinations it is refused', () => {
  expect(plan(mapping(), mapping())).toEqual(plan(mapping()));
  expect(() => plan(mapping(), mapping({ containerPort: 81 }))).toThrow(
    'portMappings[1]: tcp host port 8080 is mapped to two container ports',
  );
});

test('the loopback routes of pods differ in metric', () => {
  const metric = (link: string): unknown => {
    const resources = planHostPorts(endpoint({ portMappings: [mapping()] }), link);
    return resources.find(({ kind }) => kind === 'route')!;
  };
  expect(metric('cali1')).toMatchObject({ type: 'local', destination: '::1/128', table: 255, link: 'cali1' });
  expect(metric('cali1')).not.toMatchObject({ metric: (metric('cali2') as { metric: number }).metric });
});

const claims = (...mappings: ReturnType<typeof mapping>[]) =>
  hostPortClaims(endpoint({ portMappings: mappings }));

test.each([
  [{}, {}, true],
  [{}, { protocol: 'udp' }, false],
  [{}, { hostPort: 81 }, false],
  [{ hostIP: '0.0.0.0' }, { hostIP: '192.0.2.1' }, true],
  [{ hostIP: '192.0.2.2' }, { hostIP: '192.0.2.1' }, false],
  [{ hostIP: '0.0.0.0' }, { hostIP: '::' }, false],
  [{}, { hostIP: '2001:db8::1' }, true],
  [{ hostIP: '2001:db8:0::1' }, { hostIP: '2001:db8::1' }, true],
  [{ containerPort: 81 }, { containerPort: 82 }, true],
] as const)('claims of %j and %j conflict: %j', (a, b, expected) => {
  const found = claims(mapping(a)).some((one) =>
    claims(mapping(b)).some((other) => claimsConflict(one, other)),
  );
  expect(found).toBe(expected);
});

test('claims are described as sockets are written', () => {
  expect(claims(mapping(), mapping({ hostIP: '2001:db8::1', hostPort: 53 })).map(describeClaim)).toEqual([
    'tcp 0.0.0.0:8080',
    'tcp [::]:8080',
    'tcp [2001:db8::1]:53',
  ]);
});

const anyMapping = fc.record(
  {
    hostPort: fc.integer({ min: 1, max: 20 }),
    containerPort: fc.constant(80),
    protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'sctp' as const),
    hostIP: fc.constantFrom('0.0.0.0', '::', '127.0.0.1', '::1', '192.0.2.1', '2001:db8::1'),
  },
  { requiredKeys: ['hostPort', 'containerPort', 'protocol'] },
);

test('endpoints whose claims do not conflict never share an element key', () => {
  fc.assert(
    fc.property(fc.array(anyMapping), fc.array(anyMapping), (first, second) => {
      const [a, b] = [claims(...first), claims(...second)];
      fc.pre(!a.some((one) => b.some((other) => claimsConflict(one, other))));
      const keys = (list: typeof first): string[] =>
        elements(plan(...(list as never[])))
          .filter(isPort)
          .map(keyOf);
      expect(keys(first).filter((key) => keys(second).includes(key))).toEqual([]);
    }),
  );
});

test('conflict is symmetric and reflexive', () => {
  fc.assert(
    fc.property(anyMapping, anyMapping, (first, second) => {
      const [a, b] = [claims(first)[0]!, claims(second)[0]!];
      expect(claimsConflict(a, b)).toBe(claimsConflict(b, a));
      expect(claimsConflict(a, a)).toBe(true);
    }),
  );
});

const isPort = (text: string): boolean => !text.startsWith('hairpins');
const keyOf = (text: string): string => text.split(' : ')[0]!;
