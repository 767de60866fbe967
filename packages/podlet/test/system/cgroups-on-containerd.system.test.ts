/** Control groups of pods with a real containerd: with cgroupfs the kernel's own, with SystemdCgroup = true what runc is told. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { CriRuntime } from '@podwire/cri';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { startContainerd } from '@podwire/testkit/containerd';
import { type CgroupLocation, findCgroupDriver, withPodCgroups } from '../../src/cgroups/index.js';
import { createPodPreparation } from '../../src/files/index.js';
import { readNode } from '../../src/node/index.js';
import type { Pod } from '@podwire/pod-spec';
import { buildSandboxConfig } from '../../src/runtime-config/index.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const live = new AbortController().signal;
let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'cgroups' });
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  const ipam = { type: 'host-local', subnet: '10.97.0.0/24', dataDir: path.join(host.directory, 'ipam') };
  const network = { cniVersion: '0.4.0', name: 'cgroups', plugins: [{ type: 'ptp', ipam }] };
  fs.writeFileSync(path.join(confDir, '10-ptp.conflist'), JSON.stringify(network));
});
after(() => host?.close());

const start = (more: { readonly systemdRunc?: string } = {}) =>
  startContainerd(host, { binDir: '/usr/lib/cni', confDir: path.join(host.directory, 'net.d'), ...more });
const resources = { limits: { memory: '64Mi' }, requests: { cpu: '100m' } };
const makeLimited = (uid: string): Pod => makePod({ containers: [makeContainer({ resources })] }, { uid });

async function runSandbox(runtime: CriRuntime, pod: Pod, cgroups: CgroupLocation): Promise<string> {
  const node = { ...readNode({ name: 'node-1' }), resolvConfText: '', cgroups };
  const directories = { root: path.join(host.directory, 'r'), logs: path.join(host.directory, 'l') };
  const config = buildSandboxConfig(pod, 0, node, directories);
  return (await runtime.runPodSandbox({ config, runtimeHandler: '' })).podSandboxId;
}

const isUnified = fs.existsSync('/sys/fs/cgroup/cgroup.controllers');
const memory = isUnified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
const limitFile = isUnified ? 'memory.max' : 'memory.limit_in_bytes';

test('cgroupfs: a pod has its group with its limit, the sandbox is in it, and it goes with the pod', async () => {
  const containerd = await start();
  const { runtime } = containerd;
  assert.equal(await findCgroupDriver(runtime, live), 'cgroupfs');
  const cgroups = { driver: 'cgroupfs', root: `/podwire-test-${process.pid}` } as const;
  const preparation = withPodCgroups(
    createPodPreparation({
      directories: { root: path.join(host.directory, 'r'), logs: path.join(host.directory, 'l') },
      node: { hosts: () => Promise.resolve(''), clusterDomain: 'cluster.local' },
      findConfigMap: () => Promise.resolve(undefined),
    }),
    cgroups,
  );
  const pod = makeLimited('real-1');
  const group = path.join(memory, cgroups.root, 'kubepods/burstable/podreal-1');
  await preparation.prepare(pod, live);
  const id = await runSandbox(runtime, pod, cgroups);
  assert.equal(fs.readFileSync(path.join(group, limitFile), 'utf8').trim(), String(64 << 20));
  assert.match(fs.readFileSync(path.join(group, id, 'cgroup.procs'), 'utf8'), /^\d+$/m);
  await assert.rejects(preparation.discard('real-1'), { code: 'EBUSY' });
  await runtime.stopPodSandbox({ podSandboxId: id });
  await runtime.removePodSandbox({ podSandboxId: id });
  await preparation.discard('real-1');
  assert.equal(fs.existsSync(path.join(memory, cgroups.root)), false);
  await containerd.close();
  fs.rmSync(path.join(host.directory, 'containerd'), { recursive: true, force: true });
});

/** Says which control group it is to make, and lets runc make another, since no systemd runs in a test. */
const recorder = (log: string, root: string): string => `#!${process.execPath}
const fs = require('node:fs');
const { spawnSync } = require('node:child_process');
const argv = process.argv.slice(2);
const bundle = argv[argv.indexOf('--bundle') + 1];
if (argv.includes('create')) {
  const file = bundle + '/config.json';
  const config = JSON.parse(fs.readFileSync(file, 'utf8'));
  const isSystemd = argv.includes('--systemd-cgroup');
  fs.appendFileSync(${JSON.stringify(log)}, isSystemd + ' ' + config.linux.cgroupsPath + '\\n');
  const parts = config.linux.cgroupsPath.split(':');
  if (parts.length !== 3 || !parts[0].endsWith('.slice')) { console.error('expected slice:prefix:name'); process.exit(1); }
  config.linux.cgroupsPath = ${JSON.stringify(`${root}/`)} + parts[2];
  fs.writeFileSync(file, JSON.stringify(config));
}
const given = argv.filter((word) => word !== '--systemd-cgroup');
process.exit(spawnSync('runc', given, { stdio: 'inherit' }).status ?? 1);
`;

test('SystemdCgroup = true: runc gets a slice that says its pod', async () => {
  const log = path.join(host.directory, 'cgroups.log');
  const root = `/podwire-test-${process.pid}-s`;
  const program = path.join(host.directory, 'runc-recorder');
  fs.writeFileSync(program, recorder(log, root), { mode: 0o755 });
  const containerd = await start({ systemdRunc: program });
  const { runtime } = containerd;
  const driver = await findCgroupDriver(runtime, live);
  assert.equal(driver, 'systemd');
  const id = await runSandbox(runtime, makeLimited('ab-12'), { driver });
  const said = fs.readFileSync(log, 'utf8').trim();
  assert.equal(said, `true kubepods-burstable-podab_12.slice:cri-containerd:${id}`);
  await containerd.close();
  for (const controller of isUnified ? [''] : fs.readdirSync('/sys/fs/cgroup')) {
    const directory = path.join('/sys/fs/cgroup', controller, root);
    if (fs.existsSync(directory)) fs.rmdirSync(directory);
  }
});
