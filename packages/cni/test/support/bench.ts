import { createRuntime, type NetworkConfig, parseNetwork, type RuntimeOptions } from '../../src/index.js';
import { createFakeExec, type FakeOptions, type FakePlugin } from '../../src/fake.js';
import { createCacheDirectory } from './cache-directory.js';

/** A runtime over fake plugins with a cache of its own. */
export function createTestRuntime(
  plugins: Readonly<Record<string, FakePlugin>>,
  options: Partial<RuntimeOptions> = {},
  fake: FakeOptions = {},
) {
  const cache = createCacheDirectory();
  const exec = createFakeExec(plugins, fake);
  const runtime = createRuntime({
    pluginPath: ['/one', '/two'],
    cacheDir: cache.directory,
    exec,
    durable: false,
    env: { PATH: '/bin', CNI_IFNAME: 'leak' },
    ...options,
  });
  /** Calls as `ADD bridge`. */
  const trail = () => exec.calls.map(({ command, plugin }) => `${command} ${plugin}`);
  return { runtime, exec, cache, trail };
}

export function network(changes: object = {}): NetworkConfig {
  return parseNetwork(
    JSON.stringify({
      cniVersion: '1.1.0',
      name: 'net',
      plugins: [{ type: 'one' }, { type: 'two' }, { type: 'three' }],
      ...changes,
    }),
  );
}

export const pod = { containerId: 'pod', interfaceName: 'eth0', netns: '/run/netns/pod' };
