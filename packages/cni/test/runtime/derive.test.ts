import { expect, test } from 'vitest';
import { deriveRequestConfig, parseNetwork, type PluginConfig } from '../../src/index.js';

const plugin = {
  type: 'portmap',
  name: 'old name',
  cniVersion: '0.1.0',
  capabilities: { portMappings: true, bandwidth: false, ips: true },
  'cni.dev/anything': 1,
  prevResult: { stale: true },
  snat: true,
  unknown: { deep: [null, 1] },
} as PluginConfig;
const network = parseNetwork(JSON.stringify({ cniVersion: '1.0.0', name: 'net', plugins: [plugin] }));
const derive = (injection = {}) => JSON.parse(deriveRequestConfig(network, plugin, injection)) as object;
const plain = { type: 'portmap', name: 'net', cniVersion: '1.0.0', snat: true, unknown: { deep: [null, 1] } };

test('name and version come from the network; reserved keys do not get through; all else does', () => {
  expect(derive()).toEqual(plain);
});

test('capability arguments that are declared and supplied, and only those', () => {
  const capabilityArgs = { portMappings: [], bandwidth: {}, mac: 'x' };
  expect(derive({ capabilityArgs })).toEqual({ ...plain, runtimeConfig: { portMappings: [] } });
  expect(derive({ capabilityArgs: { mac: 'x' } })).toEqual(plain);
  expect(derive({ capabilityArgs: {} })).toEqual(plain);
});

test('prevResult as it is given', () => {
  const prevResult = { cniVersion: '0.4.0', vendor: 1 };
  expect(derive({ prevResult })).toEqual({ ...plain, prevResult });
});

test('valid attachments under both names, and none for null', () => {
  const list = [{ containerID: 'a', ifname: 'eth0' }];
  expect(derive({ validAttachments: [{ containerId: 'a', interfaceName: 'eth0' }] })).toEqual({
    ...plain,
    'cni.dev/valid-attachments': list,
    'cni.dev/attachments': list,
  });
  expect(derive({ validAttachments: [] })).toMatchObject({ 'cni.dev/valid-attachments': [] });
  expect(derive({ validAttachments: null })).toEqual(plain);
});

test('runtimeConfig of a file is passed on unless the runtime has one', () => {
  const own = { ...plugin, runtimeConfig: { mac: 'x' } } as PluginConfig;
  expect(JSON.parse(deriveRequestConfig(network, own))).toMatchObject({ runtimeConfig: { mac: 'x' } });
  expect(
    JSON.parse(deriveRequestConfig(network, own, { capabilityArgs: { ips: ['10.0.0.1'] } })),
  ).toMatchObject({
    runtimeConfig: { ips: ['10.0.0.1'] },
  });
});
