import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import { describePorts, describeRates } from '../../src/render/endpoints.js';
import { poolTable } from '../../src/commands/ipam.js';
import { formatCount } from '../../src/render/counts.js';
import { renderExplained, renderResources } from '../../src/render/resources.js';
import { renderTable } from '../../src/render/table.js';
import { formatAge, formatMilliseconds } from '../../src/render/times.js';

const plain = createColors(false);
const colored = createColors(true);
const second = 1_000;
const minute = 60 * second;

describe('tables', () => {
  test('columns are aligned, also with colours and characters of several bytes', () => {
    const rows = [
      ['a', '10'],
      [plain.bold('döner'), '5'],
    ];
    const expected = ['NAME     N', 'a       10', 'döner    5'];
    expect(renderTable({ head: ['NAME', 'N'], rows, right: [1] }, plain)).toEqual(expected);
    const inColor = renderTable(
      {
        head: ['NAME', 'N'],
        rows: [
          ['a', '10'],
          [colored.red('döner'), '5'],
        ],
        right: [1],
      },
      colored,
    );
    // eslint-disable-next-line no-control-regex
    expect(inColor.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(expected);
    expect(inColor[2]).toContain('\u001b[31m');
  });

  test('ports and rates', () => {
    expect(
      describePorts([
        { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
        { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '127.0.0.1' },
        { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '::1' },
      ]),
    ).toBe('8080→80/tcp 127.0.0.1:53→53/udp [::1]:53→53/udp');
    expect(describeRates({ ingressRate: 10_000_000, egressRate: 1_500 })).toBe('10M in, 1.5k out');
    expect(describeRates({ egressRate: 2_500_000_000 })).toBe('2.5G out');
    expect(describeRates()).toBe('-');
  });

  test('pools and blocks', () => {
    const block = { cidr: '10.0.0.0/26', used: 1, free: 60, cooling: 2, reserved: 1 };
    const pool = {
      name: 'web',
      cidr: '10.0.0.0/16',
      size: '65536',
      used: 1,
      cooling: 2,
      reserved: '2',
      free: '65531',
    };
    const { rows } = poolTable([{ ...pool, blocks: [block] }], (text) => text);
    expect(rows).toEqual([
      ['web (10.0.0.0/16)', '65536', '1', '2', '2', '65531'],
      ['  10.0.0.0/26', '64', '1', '2', '1', '60'],
    ]);
    expect(formatCount('1208925819614629174706176')).toBe('≈1.2e24');
    expect(formatCount('999')).toBe('999');
  });

  test('resources, planned and explained', () => {
    const veth = {
      kind: 'veth',
      host: { name: 'cali1', mac: 'ee:ee:ee:ee:ee:ee' },
      pod: { name: 'eth0', mac: '02:00:00:00:00:01' },
      mtu: 1500,
    } as const;
    const route = { kind: 'route', in: 'pod', destination: '0.0.0.0/0', gateway: '169.254.1.1' } as const;
    expect(renderResources([veth, route], plain)).toEqual([
      'WHERE      WHAT',
      'node+pod   veth cali1 to eth0 in pod, MTU 1500',
      'pod        route 0.0.0.0/0 via 169.254.1.1',
    ]);
    const lines = renderExplained(
      [
        { resource: veth, state: 'ok' },
        { resource: route, state: 'missing', detail: 'there is none' },
        { resource: route, state: 'changed', detail: 'it is another one', gap: true },
      ],
      plain,
    );
    expect(lines.map((line) => line.replaceAll(/ {3,}/g, ' | '))).toEqual([
      ' | WHERE | PLANNED | IN THE KERNEL',
      '✓ | node+pod | veth cali1 to eth0 in pod, MTU 1500 | as planned',
      '✗ | pod | route 0.0.0.0/0 via 169.254.1.1 | missing: there is none',
      '✗ | pod | route 0.0.0.0/0 via 169.254.1.1 | changed: it is another one (its repair interrupts traffic)',
    ]);
  });
});

describe('times', () => {
  test.each([
    [-5, '0s'],
    [119 * second, '119s'],
    [5 * minute + 10 * second, '5m10s'],
    [59 * minute, '59m'],
    [26 * 60 * minute, '26h'],
    [100 * 60 * minute, '4d'],
  ])('%d ms ago is %s', (age, text) => expect(formatAge(age)).toBe(text));

  test.each([
    [0.012, '0.01 ms'],
    [9.994, '9.99 ms'],
    [12.34, '12.3 ms'],
    [123.4, '123 ms'],
    [12_345, '12.3 s'],
  ])('%d is %s', (value, text) => expect(formatMilliseconds(value)).toBe(text));
});
