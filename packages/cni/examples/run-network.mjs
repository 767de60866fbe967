// Runs a network list on a container: ADD, CHECK, GC, DEL, with a line for every plugin call.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CniError, createRuntime, loadNetwork } from '@podwire/cni';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-example-'));
const plugins = [
  { type: 'pool.mjs', directory: path.join(home, 'leases'), prefix: '10.1.2' },
  { type: 'pod-names.mjs', directory: path.join(home, 'hosts') },
];
fs.writeFileSync(
  path.join(home, '10-demo.conflist'),
  JSON.stringify({ cniVersion: '1.1.0', name: 'demo', plugins }),
);

const runtime = createRuntime({
  pluginPath: [import.meta.dirname], // where the two plugins are
  cacheDir: path.join(home, 'cache'),
  rollback: true, // a failed ADD is undone
  timeoutMs: 30_000, // for each operation
  observer: {
    pluginFinished: ({ command, plugin, durationMs, error }) =>
      console.log(`${command} ${plugin}: ${durationMs.toFixed(0)} ms ${error ? error.message : 'ok'}`),
  },
});

try {
  const network = await loadNetwork(home, 'demo');
  const pod = {
    containerId: 'web-1',
    interfaceName: 'eth0',
    netns: '/run/netns/web-1',
    args: [['K8S_POD_NAME', 'web']],
  };
  const result = await runtime.add(network, pod);
  console.log(
    result.ips[0].address,
    '|',
    fs.readFileSync(path.join(home, 'hosts/demo-web-1-eth0'), 'utf8').trim(),
  );
  await runtime.check(network, pod);
  await runtime.gc(network, [pod]); // everything but this pod is stale
  const { configuration } = await runtime.del('demo', { containerId: 'web-1', interfaceName: 'eth0' });
  console.log(
    `DEL used the ${configuration} configuration; leases left: ${fs.readdirSync(path.join(home, 'leases/demo')).length}`,
  );
} catch (error) {
  if (!(error instanceof CniError)) throw error;
  console.error(`CNI error ${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  fs.rmSync(home, { recursive: true });
}
