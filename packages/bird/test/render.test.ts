import { describe, expect, test } from 'vitest';
import { silentLog } from '@podwire/platform';
import { type BgpView, createBgpSpeaker, renderBirdConfig } from '../src/index.js';
import { readReply } from '../src/control.js';
import { readSessions } from '../src/sessions.js';

const view: BgpView = {
  node: 'node1',
  asn: 64512,
  routerId: '192.0.2.10',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
  neighbours: [
    { address: '192.0.2.1', asn: 64500, password: 'a b' },
    { address: '2001:db8::1', asn: 64500, multihop: true },
  ],
  announced: ['10.244.0.64/26', '10.244.0.0/26', 'fd00:244::/122'],
  pools: ['10.244.0.0/16', 'fd00:244::/48'],
};

describe('the configuration', () => {
  const text = renderBirdConfig(view);
  test('announces blocks by family, in order', () => {
    const [v4, v6] = [...text.matchAll(/protocol static[^}]*}/g)].map(([part]) => part);
    expect(v4).toMatch(/10\.244\.0\.0\/26 blackhole;\s+route 10\.244\.0\.64\/26 blackhole;/);
    expect(v6).toContain('route fd00:244::/122 blackhole;');
  });
  test('takes what lies in the pools, and nothing about own blocks', () => {
    expect(text).toContain('if net ~ [ 10.244.0.0/26+, 10.244.0.64/26+ ] then reject;');
    expect(text).toContain('if net ~ [ 10.244.0.0/16+ ] then accept;');
  });
  test('what routers tell stands behind what Podwire knows of its peers itself', () => {
    expect(text).toMatch(/protocol kernel podwire_kernel_ipv4 \{[^}]*metric 32;/);
    expect(text).toMatch(/protocol kernel podwire_kernel_ipv6 \{[^}]*metric 3072;/);
  });
  test('one session for each neighbour', () => {
    expect(text).toContain('protocol bgp podwire_192_0_2_1 {');
    expect(text).toContain('password "a b";');
    expect(text).toMatch(/podwire_2001xdb8xx1 \{[^}]*multihop;/);
  });
  test('nothing announced and no pools: nothing is taken', () => {
    const bare = renderBirdConfig({ ...view, announced: [], pools: [] });
    expect(bare).toMatch(/filter podwire_accept_ipv4 \{\n\treject;\n\}/);
  });
  test('the order in which blocks come does not count', () => {
    expect(renderBirdConfig({ ...view, announced: view.announced.toReversed() })).toBe(text);
  });
  test.each([
    ['a router id that is no IPv4 address', { routerId: '::1' }, /routerId/],
    ['a system of 0', { asn: 0 }, /asn: 0/],
    [
      'a password that ends the text',
      { neighbours: [{ address: '192.0.2.1', asn: 1, password: 'x"; }' }] },
      /password/,
    ],
    [
      'a password of two lines',
      { neighbours: [{ address: '192.0.2.1', asn: 1, password: 'x\ny' }] },
      /password/,
    ],
    [
      'an address that is none',
      { neighbours: [{ address: '192.0.2.1; }', asn: 1 }] },
      /neighbours\[0\]\.address/,
    ],
    ['a family that the node does not speak', { ipv6: undefined as unknown as string }, /no IPv6 address/],
  ])('%s is refused', (_, change, message) => {
    expect(() => renderBirdConfig({ ...view, ...change })).toThrow(message);
  });
  test('no message has a password in it', () => {
    const wrong = { ...view, neighbours: [{ address: '192.0.2.1', asn: 1, password: 'se"cret' }] };
    expect(() => renderBirdConfig(wrong)).toThrow(/^(?!.*cret)/);
  });
});

describe('the control protocol', () => {
  test.each([
    ['0001 BIRD 2.0.12 ready.\n', 1, 1],
    ['1002-kernel1    Kernel\n 1006-x\n0000 \n', 0, 2],
    ['0002-Reading configuration from x\n0003 Reconfigured\n', 3, 2],
    ['8002 x.conf:1:1 syntax error\n', 8002, 1],
  ])('%j', (text, code, count) => {
    const reply = readReply(text);
    expect([reply?.code, reply?.lines.length]).toEqual([code, count]);
  });
  test.each(['', '0002-Reading', '0002-Reading\n', '0001 BIRD'])('%j is not the whole answer', (text) => {
    expect(readReply(text)).toBeUndefined();
  });
  test('sessions', () => {
    const reply = readReply(
      [
        '1002-podwire_192_0_2_1 BGP        ---        up     00:50:01.123  Established   ',
        '1006-  BGP state:          Established',
        '     Neighbor address: 192.0.2.1',
        '1002-podwire_192_0_2_2 BGP        ---        start  00:50:02.000  Active        Socket: Connection refused',
        '1006-  BGP state:          Active',
        '     Last error:       Socket: Connection refused',
        '0000 ',
        '',
      ].join('\n'),
    )!;
    expect(readSessions(reply, ['192.0.2.2', '192.0.2.1', '192.0.2.3'])).toEqual([
      {
        neighbour: '192.0.2.2',
        state: 'Active',
        since: '00:50:02.000',
        lastError: 'Socket: Connection refused',
      },
      { neighbour: '192.0.2.1', state: 'Established', since: '00:50:01.123' },
      { neighbour: '192.0.2.3', state: 'Unknown', since: '' },
    ]);
  });
});

test('a configuration that cannot be written is refused, and names its file', async () => {
  const [configFile, socketFile] = ['/nowhere/bird.conf', '/nowhere/bird.ctl'];
  const speaker = createBgpSpeaker({ configFile, socketFile, deadline: 1_000, log: silentLog });
  await expect(speaker.apply(view)).rejects.toMatchObject({
    code: 'BGP_REFUSED',
    message: expect.stringContaining(configFile) as string,
  });
});
