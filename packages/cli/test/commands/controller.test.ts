import { expect, test } from 'vitest';
import { run } from '../support.js';

test.each([
  [['--kubeconfig', '/nonexistent'], '--kubeconfig: is for the network of --northbound, which is not given'],
  [['--in-cluster'], '--in-cluster: is for the network of --northbound, which is not given'],
  [['--northbound', 'unix:/x', '--kubeconfig', '/nonexistent'], '/nonexistent: ENOENT'],
  [['--northbound', 'unix:/x', '--in-cluster'], 'this is not inside a cluster'],
  [
    ['--in-cluster', '--kubeconfig', '/nonexistent'],
    "'--in-cluster' cannot be used with option '--kubeconfig <file>'",
  ],
])('the controller refuses %j before it does anything', async (words, message) => {
  const { code, stderr } = await run(['controller', '--store', 'memory:', ...words]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});
