import { switchKinds } from '@podwire/backend-ovsdb';
import { describe, expect, test } from 'vitest';
import { flowKinds } from '../src/index.js';
import { bridgeKey } from '../src/keys.js';
import { flow, group, meter, owned, route } from './compliance-subject.js';

const kindOf = (value: object) => flowKinds[(value as { kind: keyof typeof flowKinds }).kind];

describe('a resource that is read from a file', () => {
  test.each(owned.resources)('is taken: %o', (value) => {
    expect(kindOf(value).check(JSON.parse(JSON.stringify(value)))).toBeUndefined();
  });

  test.each([
    [{ ...flow({ table: 254 }) }, 'table: no number of 0 to 253'],
    [{ ...flow({ table: 1 }), bridge: 'a/b' }, 'bridge: no name of a bridge'],
    [{ ...flow({ table: 1 }), match: undefined }, 'match: no object'],
    [flow({ table: 1, mark: 2 ** 32 }), 'mark: no number of 0 to 4294967295'],
    [flow({ table: 1, actions: ['drop' as never] }), 'actions.0: no object'],
    [flow({ table: 1, match: { tcp_dst: 80 } }), 'tcp_dst needs tcp to be matched'],
    [flow({ table: 1, match: { in_port: 'p1' } }), 'in_port'],
    [flow({ table: 1, actions: [{ type: 'fly' } as never] }), 'no action fly'],
    [{ ...group(7, 1), buckets: [] }, 'buckets: no list of at least 1'],
    [{ ...group(7, 1), id: 0xffffff00 }, 'id: no number of 0 to'],
    [{ ...meter(1, 1), id: 1 }, 'id: no number of 28672 to 32767'],
    [{ ...meter(1, 1), bands: [{ rate: 0 }] }, 'bands.0.rate: no number of 1'],
    [{ ...meter(1, 1), bands: [{ rate: 1 }, { rate: 2, burst: 1 }] }, 'bands: some have a burst'],
  ])('is refused: %o', (value, reason) => {
    expect(kindOf(value).check(value)).toContain(reason);
  });
});

describe('the key of a flow', () => {
  const key = (match: object): string => flowKinds.flow.key(flow({ table: 1, match }));

  test('is the same for matches that the switch takes for the same', () => {
    const match = { ip_dst: '10.1.0.0/16', eth_type: '0x800', reg0: '0x5/0xffffffff' };
    expect(key(match)).toBe(key({ eth_type: 0x0800, reg0: 5, ip_dst: '10.1.0.0/255.255.0.0' }));
    expect(key(match)).not.toBe(key({ eth_type: 0x0800, reg0: 5, ip_dst: '10.1.0.0/17' }));
  });

  test('is there also where the match is none', () => {
    expect(key({ tcp_dst: 80 })).toBe('flow br0/1/100/{"tcp_dst":80}');
    const words = 'flow table=1,priority=100,in_port=p1 on br0';
    expect(flowKinds.flow.describe(flow({ table: 1, match: { in_port: 'p1' } }))).toBe(words);
  });
});

describe('needs', () => {
  test('of a flow are its bridge, its groups and its meter', () => {
    const actions = [
      { type: 'group', group: 4 },
      { type: 'clone', actions: [{ type: 'group', group: 5 }] },
    ] as const;
    const needs = flowKinds.flow.after!(
      flow({ table: 1, actions, write: [{ type: 'group', group: 6 }], meter: 0x7001 }),
    );
    expect(needs).toEqual([
      ...['Open_vSwitch/Bridge/br0', 'flow-group br0/4', 'flow-group br0/5', 'flow-group br0/6'],
      'flow-meter br0/28673',
    ]);
    const watching = { ...group(1, 1), buckets: [{ watchGroup: 2, actions: [{ type: 'group', group: 3 }] }] };
    expect(flowKinds['flow-group'].after!(watching as never)).toEqual([
      ...['Open_vSwitch/Bridge/br0', 'flow-group br0/3', 'flow-group br0/2'],
    ]);
  });

  test('of a bridge are met by that of the database', () => {
    expect(bridgeKey('br0')).toBe(switchKinds['ovs-bridge'].key({ kind: 'ovs-bridge', name: 'br0' }));
  });
});

test('differences have words', () => {
  const wanted = route('10.1.0.0/16', 2, { mark: 5 });
  const what = 'flow table=31,priority=100,ip,ip_dst=10.1.0.0/16 on br0';
  expect(flowKinds.flow.compare(wanted, undefined)).toEqual({ missing: `there is no ${what}` });
  expect(flowKinds.flow.describe(wanted)).toBe(what);
});
