/** Options of a network: their defaults, mistakes in them, and the part that people see. */
import { optionsSchema, type SdnOptions } from '@podwire/network-sdn';
import { describe, expect, test } from 'vitest';
import { model, viewOf } from './views.js';

describe('options', () => {
  const good = { clusterNetworks: ['10.128.0.0/14'], serviceNetwork: '172.30.0.0/16' };

  test('have the defaults of OpenShift', () => {
    expect(optionsSchema.parse(good)).toEqual({
      ...good,
      ...{ mode: 'multitenant', vxlanPort: 4789, datapath: 'system' },
    });
  });

  test.each([
    [
      { serviceNetwork: 'fd00::/112' },
      'serviceNetwork: fd00::/112 is IPv6, and the model sdn has IPv4 alone',
    ],
    [
      { clusterNetworks: ['10.128.0.1/14'] },
      'clusterNetworks.0: 10.128.0.1/14 has bits set beyond its length',
    ],
    [{ serviceNetwork: '10.130.0.0/16' }, 'serviceNetwork: 10.130.0.0/16 overlaps 10.128.0.0/14'],
    [
      { clusterNetworks: ['10.128.0.0/14', '10.128.0.0/16'] },
      'clusterNetworks.1: 10.128.0.0/16 overlaps 10.128.0.0/14',
    ],
    [{ clusterNetworks: [] }, 'clusterNetworks: '],
    [{ mode: 'networkpolicy' }, 'mode: '],
    [{ vxlanPort: 70_000 }, 'vxlanPort: '],
    [{ plugin: 'sdn' }, ': Unrecognized key: "plugin"'],
  ])('%j are refused', (change, message) => {
    const { error } = optionsSchema.safeParse({ ...good, ...change });
    const words = error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    expect(words).toEqual([expect.stringContaining(message)]);
  });
});

test('people see the mode and the datapath of a network', () => {
  const settingsOf = (options: Partial<SdnOptions>): object => model.settings!(viewOf(1, options));
  expect(settingsOf({})).toEqual({ mode: 'multitenant', datapath: 'system' });
  expect(settingsOf({ mode: 'subnet', datapath: 'netdev' })).toEqual({ mode: 'subnet', datapath: 'netdev' });
});
