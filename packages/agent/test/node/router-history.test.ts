import { expect, test } from 'vitest';
import type { StateFiles } from '../../src/cluster/state-files.js';
import { openRouterHistory, recallRouter } from '../../src/node/router-history.js';
import type { RouterView } from '../../src/node/router-view.js';

function memoryFiles(): StateFiles & { texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    read: (name) => texts.get(name),
    write: (name, text) => void texts.set(name, text),
    append: (name, text) => void texts.set(name, (texts.get(name) ?? '') + text),
  };
}

const host: RouterView = {
  bridges: ['br0'],
  parameters: {
    'net/ipv4/ip_forward': '0',
    'net/ipv4/conf/default/forwarding': '0',
    'net/ipv6/conf/all/forwarding': '0',
    'net/ipv6/conf/default/accept_ra': '1',
    'net/ipv6/conf/eth0/accept_ra': '1',
    'net/ipv6/conf/eth1/accept_ra': '0',
  },
};

/** With forwarding on, as the agent leaves it, and a bridge that came since. */
const afterwards: RouterView = {
  bridges: ['br0', 'docker0'],
  parameters: {
    ...host.parameters,
    'net/ipv4/ip_forward': '1',
    'net/ipv6/conf/all/forwarding': '1',
    'net/ipv6/conf/default/accept_ra': '2',
    'net/ipv6/conf/eth0/accept_ra': '2',
  },
};

test('what was before is remembered over restarts, also when the agent died before it changed anything', () => {
  const files = memoryFiles();
  const before = openRouterHistory(() => host, files, 'boot').look([4, 6]);
  expect(before).toEqual({
    forwarded: { 4: false, 6: false },
    bridges: { 4: ['br0'], 6: ['br0'] },
    advertised: ['default', 'eth0'],
  });
  for (const view of [host, afterwards])
    expect(openRouterHistory(() => view, files, 'boot').look([4, 6])).toEqual(before);
});

test('each family is looked at when it is first wanted', () => {
  const files = memoryFiles();
  expect(openRouterHistory(() => host, files, 'boot').look([4]).forwarded).toEqual({ 4: false });
  // Another program has switched IPv6 on meanwhile.
  expect(openRouterHistory(() => afterwards, files, 'boot').look([4, 6])).toMatchObject({
    forwarded: { 4: false, 6: true },
    bridges: { 4: ['br0'], 6: ['br0', 'docker0'] },
  });
});

test('a reboot forgets, and so does a file that cannot be read', () => {
  const files = memoryFiles();
  openRouterHistory(() => host, files, 'boot').look([4, 6]);
  expect(recallRouter(files, 'another boot')).toEqual({});
  expect(openRouterHistory(() => afterwards, files, 'another boot').look([4]).forwarded).toEqual({ 4: true });
  for (const text of [
    '',
    '{',
    '{"version":2}',
    '{"version":1,"boot":"boot","families":{"4":{"bridges":"x"}}}',
  ]) {
    files.texts.set('router.json', text);
    expect(recallRouter(files, 'boot')).toEqual({});
  }
});

test('what cannot be written down is not looked at as if it were', () => {
  const files = {
    ...memoryFiles(),
    write: () => {
      throw new Error('disk full');
    },
  };
  const history = openRouterHistory(() => host, files, 'boot');
  for (const _ of [1, 2]) expect(() => history.look([4])).toThrow('disk full');
});
