import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { Endpoint } from '@podwire/network-contract';
import { ifbName } from '@podwire/network-traffic';
import { hostLinkName } from '@podwire/network-routed';

type Named = Pick<Endpoint, 'id' | 'pod' | 'nameTaken'>;
const nameOf = (named: Named): string => hostLinkName({ leases: [], mac: '', portMappings: [], ...named });
const id = { containerId: 'c1', ifName: 'eth0', network: 'default' };

test("Calico's check vector", () => {
  expect(nameOf({ id, pod: { namespace: 'namespace', name: 'podname' } })).toBe('cali82111e10a96');
});

test('a pod keeps its name whatever its sandbox and network', () => {
  const pod = { namespace: 'namespace', name: 'podname' };
  expect(nameOf({ id: { ...id, containerId: 'c2', network: 'n2' }, pod })).toBe('cali82111e10a96');
});

test('another sandbox, another interface and no pod have names of their own', () => {
  const pod = { namespace: 'namespace', name: 'podname' };
  const names = [
    nameOf({ id, pod }),
    nameOf({ id, pod, nameTaken: true }),
    nameOf({ id: { ...id, containerId: 'c2' }, pod, nameTaken: true }),
    nameOf({ id: { ...id, ifName: 'net1' }, pod }),
    nameOf({ id: { ...id, ifName: 'net1', network: 'n2' }, pod }),
    nameOf({ id: { ...id, containerId: 'c3' }, pod: {} }),
    nameOf({ id: { ...id, containerId: 'c4' }, pod: { name: 'podname' } }),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test('container ids with a common beginning do not collide', () => {
  const names = ['cnitool-77383ca0a0715733ca6f', 'cnitool-77383ca0a0715733ca70'].map((containerId) =>
    nameOf({ id: { ...id, containerId }, pod: {} }),
  );
  expect(names[0]).not.toBe(names[1]);
});

const token = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/);
const endpoints = fc.record({
  id: fc.record({ containerId: token, ifName: fc.constantFrom('eth0', 'net1'), network: token }),
  pod: fc.oneof(fc.constant({}), fc.record({ namespace: token, name: token })),
  nameTaken: fc.boolean(),
});

test('every name is valid for a link', () => {
  fc.assert(
    fc.property(endpoints, (named) => {
      expect(nameOf(named)).toMatch(/^cali[0-9a-f]{11}$/);
      expect(ifbName(named.id)).toMatch(/^pwi[0-9a-f]{12}$/);
    }),
  );
});

test('no two endpoints share a name, if the second of a pod says that its name is taken', () => {
  fc.assert(
    fc.property(fc.uniqueArray(endpoints, { selector: ({ id }) => Object.values(id).join() }), (all) => {
      const links = new Set<string>();
      for (const one of all) {
        const first = nameOf({ ...one, nameTaken: false });
        links.add(links.has(first) ? nameOf({ ...one, nameTaken: true }) : first);
      }
      expect(links.size).toBe(all.length);
      expect(new Set(all.map(({ id }) => ifbName(id))).size).toBe(all.length);
    }),
  );
});
