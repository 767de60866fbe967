// Runs a network list on a container: ADD, CHECK, GC, DEL, with a line for every plugin call.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type AttachmentParameters, CniError, convertResult, createRuntime, loadNetwork } from '@podwire/cni';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-example-'));

/** Plugins are executables, found by name. The two of this folder are installed as scripts that start Node. */
function installPlugin(name: string): string {
  const file = path.join(import.meta.dirname, `${name}.js`);
  fs.writeFileSync(path.join(home, name), `#!/bin/sh\nexec '${process.execPath}' '${file}'\n`, {
    mode: 0o755,
  });
  return name;
}

const plugins = [
  { type: installPlugin('pool'), directory: path.join(home, 'leases'), prefix: '10.1.2' },
  { type: installPlugin('pod-names'), directory: path.join(home, 'hosts') },
];
fs.writeFileSync(
  path.join(home, '10-demo.conflist'),
  JSON.stringify({ cniVersion: '1.1.0', name: 'demo', plugins }),
);

const runtime = createRuntime({
  pluginPath: [home],
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
  const pod: AttachmentParameters = {
    containerId: 'web-1',
    interfaceName: 'eth0',
    netns: '/run/netns/web-1',
    args: [['K8S_POD_NAME', 'web']],
  };
  const { ips = [] } = convertResult(await runtime.add(network, pod)); // in the newest form, whatever the plugins speak
  const names = fs.readFileSync(path.join(home, 'hosts/demo-web-1-eth0'), 'utf8').trim();
  console.log(ips[0]?.address, '|', names);
  await runtime.check(network, pod);
  await runtime.gc(network, [pod]); // everything but this pod is stale
  const { configuration } = await runtime.del('demo', { containerId: 'web-1', interfaceName: 'eth0' });
  const left = fs.readdirSync(path.join(home, 'leases/demo')).length;
  console.log(`DEL used the ${configuration} configuration; leases left: ${left}`);
} catch (error) {
  if (!(error instanceof CniError)) throw error;
  console.error(`CNI error ${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  fs.rmSync(home, { recursive: true });
}
