/** `networking.k8s.io/v1` NetworkPolicy, field by field: what an API server takes, fills in, and refuses. */
import { describe, expect, test } from 'vitest';
import { formatPath } from '@podwire/apimachinery';
import { checkObject, type NetworkPolicy } from '../src/index.js';

const policy = (spec: unknown) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'web' },
  spec,
});

function specOf(spec: unknown): NetworkPolicy['spec'] {
  const checked = checkObject(policy(spec));
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return (checked.object as NetworkPolicy).spec;
}

function problemsOf(spec: unknown): string[] {
  const checked = checkObject(policy(spec));
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

const ingress = (...rules: unknown[]) => ({ podSelector: {}, ingress: rules });
const port = (value: unknown) => ingress({ ports: [value] });
const from = (value: unknown) => ingress({ from: [value] });

describe('defaults', () => {
  test.each<[string, unknown, string[]]>([
    ['nothing', {}, ['Ingress']],
    ['an empty list of types', { policyTypes: [] }, ['Ingress']],
    ['egress without rules', { egress: [] }, ['Ingress']],
    ['egress null', { egress: null }, ['Ingress']],
    ['egress with a rule', { egress: [{}] }, ['Ingress', 'Egress']],
    ['types that are written', { policyTypes: ['Egress'], ingress: [{}] }, ['Egress']],
  ])('policyTypes of %s', (_, spec, types) => {
    expect(specOf(spec).policyTypes).toEqual(types);
  });

  test('the selector is empty, the protocol TCP', () => {
    const spec = specOf({ ingress: [{ ports: [{ port: 80 }] }] });
    expect(spec.podSelector).toEqual({});
    expect(spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 80 }] }]);
  });

  test('an absent list stays absent, an empty one empty', () => {
    expect(specOf(ingress({})).ingress).toEqual([{}]);
    expect(specOf(ingress({ from: [], ports: [] })).ingress).toEqual([{ from: [], ports: [] }]);
    expect(specOf({ podSelector: {} }).ingress).toBeUndefined();
  });

  test('an absent selector of a peer is not an empty one', () => {
    expect(specOf(from({ podSelector: {} })).ingress![0]!.from).toEqual([{ podSelector: {} }]);
    expect(specOf(from({ podSelector: {}, namespaceSelector: null })).ingress![0]!.from).toEqual([
      { podSelector: {} },
    ]);
    expect(specOf(from({ podSelector: {}, namespaceSelector: {} })).ingress![0]!.from).toEqual([
      { podSelector: {}, namespaceSelector: {} },
    ]);
  });

  test('what was read is read again as the same', () => {
    const spec = specOf({
      egress: [
        { to: [{ ipBlock: { cidr: '10.0.0.9/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 'dns' }] },
      ],
    });
    expect(specOf(spec)).toEqual(spec);
    expect(spec.egress![0]!.to![0]!.ipBlock!.cidr).toBe('10.0.0.0/8');
  });
});

describe('taken', () => {
  test.each<[string, unknown]>([
    ['SCTP', port({ protocol: 'SCTP', port: 3868 })],
    ['a protocol alone', port({ protocol: 'UDP' })],
    ['a name', port({ port: 'http-alt' })],
    ['a range', port({ port: 32000, endPort: 32768 })],
    ['a range of one', port({ port: 80, endPort: 80 })],
    ['IPv6', from({ ipBlock: { cidr: 'fd00::/8', except: ['fd00:1::/32'] } })],
    ['everything', from({ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8', '192.168.0.0/16'] } })],
    [
      'every operator',
      {
        podSelector: {
          matchLabels: { app: 'web', empty: '' },
          matchExpressions: [
            { key: 'a', operator: 'In', values: ['x', ''] },
            { key: 'b', operator: 'NotIn', values: ['y'] },
            { key: 'example.com/c', operator: 'Exists' },
            { key: 'd', operator: 'DoesNotExist', values: [] },
          ],
        },
      },
    ],
  ])('%s', (_, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });
});

describe('refused', () => {
  const at = 'spec.ingress[0]';
  test.each<[string, unknown, string]>([
    [
      'a protocol in small letters',
      port({ protocol: 'tcp' }),
      `${at}.ports[0].protocol: must be TCP, UDP or SCTP, is "tcp" (did you mean TCP?)`,
    ],
    ['port 0', port({ port: 0 }), `${at}.ports[0].port: must be at least 1, is 0`],
    ['port 65536', port({ port: 65536 }), `${at}.ports[0].port: must be at most 65535, is 65536`],
    ['half a port', port({ port: 1.5 }), `${at}.ports[0].port: must be a whole number`],
    ['a long name', port({ port: 'a-very-long-name-of-a-port' }), `${at}.ports[0].port: must be made of`],
    ['a list as a port', port({ port: [] }), `${at}.ports[0].port: must be a number or text, is a list`],
    [
      'endPort below port',
      port({ port: 90, endPort: 80 }),
      `${at}.ports[0].endPort: must not be below \`port\` (90)`,
    ],
    ['endPort alone', port({ endPort: 80 }), `${at}.ports[0].endPort: needs \`port\``],
    ['endPort with a name', port({ port: 'http', endPort: 80 }), `${at}.ports[0].endPort: needs a number`],
    ['a peer of nothing', from({}), `${at}.from[0]: must have podSelector, namespaceSelector or ipBlock`],
    ['a peer that is null', from(null), `${at}.from[0]: must be a map, is null`],
    ['a rule that is null', ingress(null), `${at}: must be a map, is null`],
    [
      'a block beside a selector',
      from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }),
      `${at}.from[0].ipBlock: must not stand beside`,
    ],
    ['a block without a prefix', from({ ipBlock: {} }), `${at}.from[0].ipBlock.cidr: is missing`],
    [
      'an address as a prefix',
      from({ ipBlock: { cidr: '10.0.0.1' } }),
      `${at}.from[0].ipBlock.cidr: must be a prefix`,
    ],
    [
      'leading zeros',
      from({ ipBlock: { cidr: '010.0.0.0/8' } }),
      `${at}.from[0].ipBlock.cidr: must be a prefix`,
    ],
    [
      'an except outside',
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }),
      `${at}.from[0].ipBlock.except[0]: must lie within 10.0.0.0/8`,
    ],
    [
      'an except of all',
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }),
      `${at}.from[0].ipBlock.except[0]: must lie within`,
    ],
    [
      'an except of the other family',
      from({ ipBlock: { cidr: '::/0', except: ['10.0.0.0/8'] } }),
      `${at}.from[0].ipBlock.except[0]: must lie within`,
    ],
    [
      'an unknown field of a peer',
      from({ podSelector: {}, podSelectr: {} }),
      `${at}.from[0].podSelectr: unknown field (did you mean podSelector?)`,
    ],
    ['`to` in an ingress rule', ingress({ to: [] }), `${at}.to: unknown field`],
    [
      'In without values',
      { podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'spec.podSelector.matchExpressions[0].values: must have one value at least for In',
    ],
    [
      'Exists with values',
      { podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
      'spec.podSelector.matchExpressions[0].values: must not be there for Exists',
    ],
    [
      'an unknown operator',
      { podSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
      'spec.podSelector.matchExpressions[0].operator: must be In, NotIn, Exists or DoesNotExist',
    ],
    [
      'a wrong value of a label',
      { podSelector: { matchLabels: { a: 'b c' } } },
      'spec.podSelector.matchLabels.a: must be made of',
    ],
    [
      'three types',
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      'spec.policyTypes: must have at most 2 entries, has 3',
    ],
    ['no spec', undefined, 'spec: is missing'],
  ])('%s', (_, spec, expected) => {
    const found = problemsOf(spec);
    expect(found).toHaveLength(1);
    expect(found[0]!.slice(0, expected.length)).toBe(expected);
  });
});
