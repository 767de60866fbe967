/** The Debian package: the tree below /usr/lib/podwire, units, and configurations that dpkg knows (deb(5), deb-conffiles(5)). */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { runOrFail } from '../setup/run.mjs';
import { setTimes } from './tree.mjs';

const home = '/usr/lib/podwire';
const agentConfig = '/etc/podwire/agent.yaml';
const podletConfig = '/etc/podwire/podlet.yaml';

/** Debian's names of processors. */
const architectures = { x64: 'amd64', arm64: 'arm64' };

/** Debian 12; what the Node inside and the plugin are linked with. */
const control = (version, kibibytes) => `Package: podwire
Version: ${version}
Architecture: ${architectures[process.arch] ?? process.arch}
Maintainer: Podwire maintainers <maintainers@podwire.invalid>
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.36), libstdc++6 (>= 12), libgcc-s1, nftables
Recommends: iproute2
Suggests: containerd, bird2
Section: net
Priority: optional
Description: runs pods and gives them their network
 The whole path from a pod manifest to a process that can be reached: a pod
 agent, container runtimes behind the CRI, a CNI plugin, and a node agent
 that configures the kernel. Node.js is inside.
`;

/** Scripts that dpkg runs as root (deb-postinst(5) and the pages beside it). */
const scripts = path.join(import.meta.dirname, 'debian');

/** @returns undefined where there is no dpkg-deb */
export async function buildDeb({ root, tree, work, directory, version, epoch }) {
  const found = await runOrFail('dpkg-deb', ['--version']).catch(() => undefined);
  if (found === undefined) return undefined;
  const stage = path.join(work, 'deb');
  const at = (file) => path.join(stage, file);
  fs.mkdirSync(at('usr/lib'), { recursive: true });
  fs.renameSync(tree, at(home));
  fs.mkdirSync(at('usr/bin'));
  fs.symlinkSync('../lib/podwire/bin/podwire', at('usr/bin/podwire'));
  writeDocuments(root, at, epoch);
  const conffiles = await writeConfigurations(root, at);
  fs.mkdirSync(at('DEBIAN'));
  const kibibytes = Math.ceil(measure(stage) / 1024);
  fs.writeFileSync(at('DEBIAN/control'), control(version, kibibytes));
  fs.writeFileSync(at('DEBIAN/conffiles'), `${conffiles.join('\n')}\n`);
  setTimes(stage, epoch);
  for (const name of fs.readdirSync(scripts)) {
    fs.copyFileSync(path.join(scripts, name), at(`DEBIAN/${name}`));
    fs.chmodSync(at(`DEBIAN/${name}`), 0o755);
  }
  setTimes(stage, epoch);
  const architecture = architectures[process.arch] ?? process.arch;
  const file = path.join(directory, `podwire_${version}_${architecture}.deb`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) };
  await runOrFail('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', stage, file], { env });
  return file;
}

function writeDocuments(root, at, epoch) {
  const folder = at('usr/share/doc/podwire');
  fs.mkdirSync(folder, { recursive: true });
  const licences = ['LICENSE', 'LICENSE.node'].map((name) =>
    fs.readFileSync(at(path.join(home, name)), 'utf8'),
  );
  fs.writeFileSync(
    path.join(folder, 'copyright'),
    licences.join('\n\nNode.js, in /usr/lib/podwire/bin/node:\n\n'),
  );
  const changelog = fs.readFileSync(path.join(root, 'CHANGELOG.md'));
  fs.writeFileSync(path.join(folder, 'changelog.gz'), gzipSync(changelog, { level: 9 }));
  fs.utimesSync(folder, epoch, epoch);
}

/** By the functions of \`podwire service install\`. @returns the files that dpkg must not overwrite */
async function writeConfigurations(root, at) {
  const load = (name) => import(pathToFileURL(path.join(root, 'packages/cli/dist/src/service', name)).href);
  const [{ renderUnit }, configs] = await Promise.all([load('units.js'), load('configs.js')]);
  const [first] = fs.readFileSync(path.join(root, 'bin/podwire'), 'utf8').split('\n', 1);
  const program = [`${home}/bin/node`, ...first.split(/\bnode /)[1].split(' '), `${home}/bin/podwire.mjs`];
  const options = {
    program,
    agentConfig,
    podletConfig,
    directory: '/run/podwire',
    pluginDirectory: `${home}/bin`,
  };
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(at(file)), { recursive: true });
    fs.writeFileSync(at(file), text);
  };
  write('/usr/lib/systemd/system/podwire-agent.service', renderUnit('agent', options));
  write('/usr/lib/systemd/system/podwire-podlet.service', renderUnit('podlet', options));
  for (const folder of configs.podletFolders(options)) fs.mkdirSync(at(folder), { recursive: true });
  const network = configs.networkFile(options);
  write(agentConfig, configs.renderAgentConfig(options));
  write(podletConfig, configs.renderPodletConfig(options));
  write(network.file, network.text);
  return [agentConfig, podletConfig, network.file];
}

function measure(folder) {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
}
