import fs from 'node:fs';
import path from 'node:path';
import { run, runOrFail } from './run.mjs';
import { SetupError } from './show.mjs';

/** To build the plugin and to run the agent. musl-tools: a static program with musl starts three times faster. */
const RUN = ['gcc', 'libc6-dev', 'musl-tools', 'iproute2', 'nftables'];
/** Packages for the containers of examples/. */
const DEMO = [...RUN, 'busybox-static'];
/** The real runtimes and plugins that Podwire is tested with and compared to. */
const TEST = [
  ...DEMO,
  ...['conntrack', 'containerd', 'containernetworking-plugins', 'docker.io'],
  ...['iptables', 'iputils-ping', 'podman', 'protobuf-compiler', 'runc', 'tcpdump'],
  ...['bird2', 'etcd-client', 'etcd-server', 'groff-base', 'openssl', 'openvswitch-switch'],
  ...['ovn-central', 'ovn-host', 'systemd'],
  // For the tests of the dashboard; without a font its pages would be blank.
  ...['chromium', 'fonts-dejavu-core'],
];
/** To build the real Kubernetes from its source package. */
const KUBERNETES = [...TEST, 'dpkg-dev', 'golang-1.19-go'];

/** The Debian packages for each purpose of `npm run setup -- --for PURPOSE`. */
export const packagesFor = { run: RUN, demo: DEMO, test: TEST, bench: TEST, kubernetes: KUBERNETES };

/** Those of `names` that are not installed; `undefined` where the system is not Debian's. */
export async function missingPackages(names) {
  const format = '${Package} ${db:Status-Status}\n';
  const query = await run('dpkg-query', ['--show', `--showformat=${format}`, ...names]).catch(
    () => undefined,
  );
  if (query === undefined) return undefined;
  const installed = new Set(query.stdout.split('\n').filter((line) => line.endsWith(' installed')));
  return names.filter((name) => !installed.has(`${name} installed`));
}

/** The program of each package that shows it is there, for systems that are not Debian's. */
const PROGRAM_OF = {
  gcc: 'gcc',
  iproute2: 'ip',
  nftables: 'nft',
  'iputils-ping': 'ping',
  'busybox-static': 'busybox',
  conntrack: 'conntrack',
  containerd: 'containerd',
  'docker.io': 'dockerd',
  iptables: 'iptables',
  podman: 'podman',
  'protobuf-compiler': 'protoc',
  runc: 'runc',
  systemd: 'systemctl',
  tcpdump: 'tcpdump',
  chromium: 'chromium',
};

function missingPrograms(names) {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '');
  const isThere = (program) => folders.some((folder) => fs.existsSync(path.join(folder, program)));
  return names
    .map((name) => PROGRAM_OF[name])
    .filter((program) => program !== undefined && !isThere(program));
}

function checkPrograms(names, optional) {
  const missing = missingPrograms(names);
  if (missing.length === 0) return 'this is not Debian, and all programs are there';
  const text = `this is not Debian; these programs are missing: ${missing.join(' ')}`;
  if (optional) return `skipped (${text})`;
  throw new SetupError(text);
}

const POLICY = '/usr/sbin/policy-rc.d';
const POLICY_TEXT =
  '#!/bin/sh\n# Written by the set-up of Podwire for the time of an installation.\nexit 101\n';

/**
 * Debian starts a service when its package is installed (containerd, podman's). What Podwire needs are the programs,
 * so for the time of the installation the policy is not to start any (Debian policy, invoke-rc.d(8)). A policy that is
 * there already stays.
 */
async function withoutStartingServices(work) {
  const own = !fs.existsSync(POLICY) || fs.readFileSync(POLICY, 'utf8') === POLICY_TEXT;
  const restore = () => own && fs.rmSync(POLICY, { force: true });
  const stop = () => (restore(), process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
  try {
    if (own) fs.writeFileSync(POLICY, POLICY_TEXT, { mode: 0o755 });
    return await work();
  } finally {
    restore();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop);
  }
}

const APT = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300'];
const aptGet = (...parameters) =>
  runOrFail('apt-get', [...APT, ...parameters], {
    show: true,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });

/**
 * Installs what is missing of the purpose's packages. For the purpose `run` a machine without them is left as it
 * is: the plugin's JavaScript twin needs no compiler.
 */
export async function installPackages(purpose, begin) {
  const names = packagesFor[purpose];
  const missing = await missingPackages(names);
  if (missing?.length === 0) return `all ${names.length} are installed`;
  const optional = purpose === 'run';
  if (missing === undefined) return checkPrograms(names, optional);
  const command = `apt-get install ${missing.join(' ')}`;
  if (process.getuid() !== 0) {
    if (optional) return `skipped (not root); as root: ${command}`;
    throw new SetupError(`some packages are missing and this is not root; run as root: ${command}`);
  }
  begin(`installing ${missing.join(' ')}`);
  await aptGet('update');
  await withoutStartingServices(() => aptGet('install', '--no-install-recommends', ...missing));
  return `installed ${missing.join(' ')}`;
}
