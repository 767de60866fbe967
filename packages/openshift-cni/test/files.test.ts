import { expect, test } from 'vitest';
import { renderNetworkConfig, renderNodeConfig } from '../src/index.js';
import { configJson } from './recorded.js';

test('config.json is that of the original, of old and new releases', () => {
  expect(renderNodeConfig({ mtu: 1450, serviceNetworkCidr: '172.30.0.0/16' })).toBe(configJson);
  expect(renderNodeConfig({ mtu: 1450 })).toBe('{"mtu":1450}');
  expect(renderNodeConfig({ mtu: 1450, routableMtu: 1350, platformType: 'AlibabaCloud' })).toBe(
    '{"mtu":1450,"routableMTU":1350,"platformType":"AlibabaCloud"}',
  );
});

test('the network configuration is that of the original', () => {
  expect(renderNetworkConfig('0.2.0')).toBe(
    '\n{\n  "cniVersion": "0.2.0",\n  "name": "openshift-sdn",\n  "type": "openshift-sdn"\n}\n',
  );
});
