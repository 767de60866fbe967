/**
 * kube-apiserver and kubelet 1.20.2, the real ones, built from Debian's source package: Debian has no binaries of them.
 * Kept below the user's cache directory, so that it is done once for a machine. Five minutes on two cores.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { installPackages } from '../setup/debian.mjs';
import { runOrFail } from '../setup/run.mjs';
import { SetupError } from '../setup/show.mjs';

const VERSION = '1.20.2';
const PROGRAMS = ['kube-apiserver', 'kubelet'];
const GO = '/usr/lib/go-1.19/bin/go';

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'podwire');
/** Where the programs are when they are there. */
export const kubernetesDirectory = path.join(cache, `kubernetes-${VERSION}`);

export const isKubernetesBuilt = () =>
  PROGRAMS.every((program) => fs.existsSync(path.join(kubernetesDirectory, program)));

/** Makes sure that the programs are there. @returns a few words on what was done */
export async function buildKubernetes(begin) {
  if (isKubernetesBuilt()) return `${VERSION} is there`;
  begin('installing the compiler');
  await installPackages('kubernetes', begin);
  fs.mkdirSync(cache, { recursive: true });
  const work = fs.mkdtempSync(path.join(cache, 'kubernetes-build-'));
  try {
    begin('fetching the source package');
    const archive = await fetchSource(work);
    const tree = await unpack(work, archive);
    begin('compiling kube-apiserver and kubelet, some five minutes');
    await compile(work, tree);
    install(work);
  } finally {
    // The module cache of Go is read-only, also for its owner.
    fs.rmSync(work, { recursive: true, force: true, maxRetries: 3 });
  }
  return `${VERSION} built`;
}

/** The machine's own list of sources stays as it is: a copy of it asks for source packages too. */
async function fetchSource(work) {
  const apt = path.join(work, 'apt');
  for (const folder of ['sources', 'lists/partial'])
    fs.mkdirSync(path.join(apt, folder), { recursive: true });
  writeSources(path.join(apt, 'sources'));
  const options = [
    ...['-q', '-o', 'Dir::Etc::sourcelist=/dev/null', '-o', `Dir::Etc::sourceparts=${apt}/sources`],
    ...['-o', `Dir::State::lists=${apt}/lists`, '-o', 'APT::Sandbox::User=root'],
  ];
  await runOrFail('apt-get', [...options, 'update']);
  await runOrFail('apt-get', [...options, 'source', '--download-only', 'kubernetes'], { cwd: work });
  const archive = fs.readdirSync(work).find((name) => /^kubernetes_.*\.orig\.tar\./.test(name));
  if (archive === undefined) throw new SetupError('the source package of kubernetes has no upstream archive');
  return path.join(work, archive);
}

function writeSources(folder) {
  const parts = '/etc/apt/sources.list.d';
  const listed = fs.existsSync(parts) ? fs.readdirSync(parts).map((name) => path.join(parts, name)) : [];
  for (const file of ['/etc/apt/sources.list', ...listed].filter((each) => fs.existsSync(each))) {
    const text = fs.readFileSync(file, 'utf8');
    if (!/debian/.test(text)) continue;
    const sources = file.endsWith('.sources')
      ? text.replace(/^Types:.*$/gm, 'Types: deb-src')
      : text.replace(/^deb\s/gm, 'deb-src ');
    fs.writeFileSync(path.join(folder, path.basename(file)), sources);
  }
}

async function unpack(work, archive) {
  const tree = path.join(work, 'go/src/k8s.io/kubernetes');
  fs.mkdirSync(tree, { recursive: true });
  await runOrFail('tar', ['-C', tree, '--strip-components=1', '-xf', archive]);
  return tree;
}

async function compile(work, tree) {
  const env = {
    ...process.env,
    ...{ GOPATH: path.join(work, 'go'), GOCACHE: path.join(work, 'cache'), GO111MODULE: 'off' },
    ...{ CGO_ENABLED: '0', GOFLAGS: '' },
  };
  const options = { cwd: tree, env, deadline: 30 * 60_000 };
  const bin = path.join(work, 'bin');
  fs.mkdirSync(bin);
  const generator = path.join(bin, 'openapi-gen');
  await runOrFail(GO, ['build', '-o', generator, './vendor/k8s.io/kube-openapi/cmd/openapi-gen'], options);
  await generateOpenApi(work, generator, tree, options);
  const version = 'k8s.io/kubernetes/vendor/k8s.io/component-base/version';
  const [major, minor] = VERSION.split('.');
  const facts = { gitVersion: `v${VERSION}`, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(facts).map(([name, value]) => `-X ${version}.${name}=${value}`);
  const sources = PROGRAMS.map((program) => `./cmd/${program}`);
  await runOrFail(
    GO,
    ['build', '-ldflags', ['-s -w', ...flags].join(' '), '-o', `${bin}/`, ...sources],
    options,
  );
}

/** The source package lacks one generated file, which describes the types that carry a tag. */
async function generateOpenApi(work, generator, tree, options) {
  const header = path.join(work, 'header.txt');
  fs.writeFileSync(header, '\n');
  const parameters = [
    ...['-h', header, '-i', findTagged(tree).join(','), '-r', path.join(work, 'violations.txt')],
    ...['-p', 'k8s.io/kubernetes/pkg/generated/openapi', '-O', 'zz_generated.openapi'],
    ...['-o', path.join(work, 'go/src')],
  ];
  await runOrFail(generator, parameters, options);
}

/** Go packages with a `+k8s:openapi-gen` tag. `vendor/k8s.io` holds symbolic links, which are followed. */
function findTagged(tree) {
  const found = [];
  const walk = (folder, name) => {
    const entries = fs.readdirSync(path.join(tree, folder));
    const isTagged = (file) =>
      file.endsWith('.go') &&
      /^\s*\/\/ ?\+k8s:openapi-gen/m.test(fs.readFileSync(path.join(tree, folder, file), 'utf8'));
    if (entries.some(isTagged)) found.push(name);
    for (const entry of entries.filter((each) => each !== 'testdata')) {
      if (fs.statSync(path.join(tree, folder, entry), { throwIfNoEntry: false })?.isDirectory())
        walk(path.join(folder, entry), `${name}/${entry}`);
    }
  };
  walk('vendor/k8s.io', 'k8s.io');
  walk('pkg', 'k8s.io/kubernetes/pkg');
  return found;
}

/** All or nothing: another run may look at the same time. */
function install(work) {
  const draft = `${kubernetesDirectory}.${process.pid}`;
  fs.mkdirSync(draft, { recursive: true });
  for (const program of PROGRAMS) fs.copyFileSync(path.join(work, 'bin', program), path.join(draft, program));
  fs.rmSync(kubernetesDirectory, { recursive: true, force: true });
  fs.renameSync(draft, kubernetesDirectory);
}
