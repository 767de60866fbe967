import { expect, test } from 'vitest';
import { chassisCommands } from '../src/run/chassis.js';

test('a node of OVN has a bridge, and says where its tunnels end and where the southbound database is', () => {
  const node = { name: 'node2', addresses: { ipv4: '10.10.1.12/24', ipv6: 'fd00:10:1::12/64' } };
  const words = chassisCommands({
    ...{ node, southbound: 'unix:/run/x/ovnsb_db.sock', encapsulation: 'vxlan', datapath: 'netdev' },
  });
  expect(words.join(' ').split(' -- ')).toEqual([
    '-- add-br br-int',
    'set Bridge br-int datapath_type=netdev fail_mode=secure',
    [
      'set Open_vSwitch .',
      'external_ids:system-id="node2" external_ids:hostname="node2"',
      'external_ids:ovn-remote="unix:/run/x/ovnsb_db.sock"',
      'external_ids:ovn-encap-type="vxlan" external_ids:ovn-encap-ip="10.10.1.12"',
      'external_ids:ovn-bridge-datapath-type="netdev"',
    ].join(' '),
  ]);
});
