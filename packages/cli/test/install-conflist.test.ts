import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOwnConflist, renderConflist } from '../src/commands/install-conflist.js';
import { withInterpreter } from '../src/commands/install-programs.js';

describe('renderConflist', () => {
  it('writes what the documentation promises', () => {
    expect(renderConflist({ name: 'podwire', socket: '/run/podwire/cni.sock' })).toBe(
      '{"cniVersion":"1.0.0","cniVersions":["0.4.0","1.0.0","1.1.0"],"name":"podwire","plugins":[{"type":"podwire-cni","socket":"/run/podwire/cni.sock","capabilities":{"portMappings":true,"bandwidth":true,"ips":true,"mac":true,"dns":true,"io.kubernetes.cri.pod-annotations":true}}]}\n',
    );
  });
});

describe('isOwnConflist', () => {
  it('knows what was written with any name and socket', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, socket) => {
        expect(isOwnConflist(renderConflist({ name, socket }))).toBe(true);
      }),
    );
  });

  type List = { plugins: Record<string, unknown>[] } & Record<string, unknown>;
  const changed = (change: (list: List) => void): string => {
    const list = JSON.parse(renderConflist({ name: 'podwire', socket: '/s' })) as List;
    change(list);
    return JSON.stringify(list);
  };

  it.each([
    ['another plugin behind ours', changed((list) => list.plugins.push({ type: 'portmap' }))],
    ['no plugin', changed((list) => list.plugins.pop())],
    ['another plugin', changed((list) => Object.assign(list.plugins[0]!, { type: 'bridge' }))],
    ['an option of ours more', changed((list) => Object.assign(list.plugins[0]!, { mtu: 1400 }))],
    ['a key of the list more', changed((list) => Object.assign(list, { disableCheck: true }))],
    ['no list', '{"type":"podwire-cni","name":"podwire"}'],
    ['other JSON', '[null]'],
    ['a plugin that is none', '{"cniVersion":"","cniVersions":[],"name":"","plugins":[null]}'],
    ['no JSON', '# nothing yet'],
    ['nothing', ''],
  ])('takes %s for a foreign file', (_what, text) => {
    expect(isOwnConflist(text)).toBe(false);
  });
});

describe('withInterpreter', () => {
  const script = Buffer.from('#!/usr/bin/env node\nwork();\n');

  it('names the interpreter that runs now', () => {
    expect(withInterpreter(script, '/opt/node/bin/node').toString()).toBe('#!/opt/node/bin/node\nwork();\n');
  });

  it('leaves the search to env where the kernel would not take the path', () => {
    expect(withInterpreter(script, '/opt/my node/node')).toEqual(script);
    expect(withInterpreter(script, `/${'x'.repeat(300)}/node`)).toEqual(script);
  });
});
