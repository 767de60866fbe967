import { describe, expect, test } from 'vitest';
import { assembleNetwork, enabledCapabilities, parseNetwork, parseSinglePlugin } from '../../src/index.js';

const list = (changes: object = {}) =>
  JSON.stringify({ cniVersion: '1.0.0', name: 'net', plugins: [{ type: 'bridge' }], ...changes });

describe('a list', () => {
  test('with everything', () => {
    const plugins = [
      { type: 'bridge', capabilities: { ips: true, mac: false }, ipam: { type: 'host-local' }, own: [1] },
      { type: 'portmap', capabilities: { portMappings: true, ips: true } },
    ];
    const text = list({
      cniVersions: ['0.4.0', '1.1.0'],
      disableCheck: true,
      disableGC: 'TRUE',
      plugins,
      own: 1,
    });
    const network = parseNetwork(text, { file: '/x.conflist' });
    expect(network).toEqual({
      name: 'net',
      cniVersion: '1.1.0',
      disableCheck: true,
      disableGC: true,
      loadOnlyInlinedPlugins: false,
      plugins,
      source: JSON.stringify(JSON.parse(text)),
      file: '/x.conflist',
    });
    expect(enabledCapabilities(network)).toEqual(['ips', 'portMappings']);
  });
  test('the last of repeated keys counts, as everywhere with files', () => {
    expect(parseNetwork(list().replace('{', '{"name":"other",')).name).toBe('net');
  });
  test('without plugins it waits for those of its folder', () => {
    const network = parseNetwork('{"name":"net"}');
    expect(network).toMatchObject({ plugins: [], cniVersion: '0.1.0' });
    expect(() => assembleNetwork(network, [])).toThrow('has no plugins');
  });
  test('plugins found elsewhere become part of the source, for a DEL from the cache', () => {
    const network = assembleNetwork(parseNetwork(list({ own: 1 })), [{ type: 'tuning' }]);
    expect(network.plugins.map(({ type }) => type)).toEqual(['bridge', 'tuning']);
    expect(parseNetwork(network.source).plugins).toEqual(network.plugins);
    expect(JSON.parse(network.source)).toMatchObject({ own: 1, name: 'net' });
  });

  test.each([
    ['[]', 7, 'must be an object'],
    ['{', 6, 'no JSON'],
    [list({ name: undefined }), 7, 'name: is missing'],
    [list({ name: '../../etc' }), 7, 'network name'],
    [list({ name: 1 }), 7, 'name: must be a string'],
    [list({ cniVersion: 1 }), 7, 'cniVersion: must be a string'],
    [list({ cniVersion: '1.0.0.0' }), 7, '1.0.0.0'],
    [list({ cniVersion: '3.0.0' }), 1, 'incompatible'],
    [list({ cniVersions: '1.0.0' }), 7, 'cniVersions: must be an array'],
    [list({ cniVersions: ['1.0.0', 1] }), 7, 'cniVersions[1]: must be a string'],
    [list({ cniVersions: ['1.x'] }), 7, '1.x'],
    [list({ disableCheck: 'yes' }), 7, 'disableCheck: must be true or false'],
    [list({ disableGC: 1 }), 7, 'disableGC: must be true or false'],
    [list({ plugins: [] }), 7, 'plugins: is empty'],
    [list({ plugins: {} }), 7, 'plugins: must be an array'],
    [list({ plugins: null }), 7, 'plugins: must be an array'],
    [list({ plugins: [{ type: 'a' }, {}] }), 7, 'plugins[1].type: is missing'],
    [list({ plugins: [{ type: '../sh' }] }), 7, 'plugins[0]: the plugin type'],
    [list({ plugins: [{ type: 'a', ipam: { type: '/bin/sh' } }] }), 7, 'plugins[0]: the plugin type'],
    [list({ plugins: [{ type: 'a', capabilities: { x: 'true' } }] }), 7, 'plugins[0].capabilities.x'],
    [list({ plugins: undefined, loadOnlyInlinedPlugins: true }), 7, 'loadOnlyInlinedPlugins'],
  ])('%s is refused with code %i', (text, code, message) => {
    expect(() => parseNetwork(text, { file: '/etc/cni/net.d/10-a.conflist' })).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringMatching(/^\/etc\/cni\/net.d\/10-a.conflist: /) as string,
      }),
    );
    expect(() => parseNetwork(text)).toThrow(message);
  });
});

describe('a single plugin', () => {
  test('becomes a list of one', () => {
    const text = '{"cniVersion":"0.4.0","name":"net","type":"bridge","own":1}';
    const network = parseSinglePlugin(text);
    expect(network).toMatchObject({ name: 'net', cniVersion: '0.4.0', plugins: [JSON.parse(text)] });
    expect(parseNetwork(network.source).plugins).toEqual(network.plugins);
  });
  test.each([
    ['{"name":"net"}', 'type: is missing'],
    ['{"name":"net","plugins":[]}', 'belongs into a .conflist file'],
    ['{"type":"bridge"}', 'name: is missing'],
  ])('%s', (text, message) => {
    expect(() => parseSinglePlugin(text)).toThrow(message);
  });
});
