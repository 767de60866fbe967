/** The files of a package, laid out as in the checkout, so that the program finds them where it looks. */
import fs from 'node:fs';
import path from 'node:path';
import { run } from '../setup/run.mjs';
import { SetupError } from '../setup/show.mjs';

/** It runs with the Node that lies beside it. The options are those of bin/podwire, which says why. */
const launcher = (options) => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
MALLOC_ARENA_MAX=1 exec "$here/node" ${options} "$here/podwire.mjs" "$@"
`;

const own = ['LICENSE', 'CHANGELOG.md', 'README.md', 'package.json', 'examples'];
const programs = [
  'podwire-cni',
  'podwire-cni.js',
  'openshift-sdn',
  'openshift-sdn.js',
  'kube-ovn',
  'kube-ovn.js',
  'podwire-hold',
];

export async function writeTree(root, tree) {
  fs.mkdirSync(path.join(tree, 'bin'), { recursive: true });
  for (const name of own) fs.cpSync(path.join(root, name), path.join(tree, name), { recursive: true });
  for (const name of programs) copyProgram(root, tree, name);
  copyLauncher(root, tree);
  copyWorkspaces(root, tree);
  copyDependencies(root, tree);
  await copyNode(tree);
  return `${countFiles(tree)} files`;
}

function copyProgram(root, tree, name) {
  const file = path.join(root, 'bin', name);
  if (!fs.existsSync(file)) throw new SetupError(`${file} is missing; run: npm run setup`);
  fs.copyFileSync(file, path.join(tree, 'bin', name));
}

function copyLauncher(root, tree) {
  const text = fs.readFileSync(path.join(root, 'bin/podwire'), 'utf8');
  const [first] = text.split('\n', 1);
  const options = first.split(/\bnode /)[1];
  if (options === undefined) throw new SetupError('bin/podwire does not begin with the options of node');
  fs.writeFileSync(path.join(tree, 'bin/podwire.mjs'), text.slice(first.length + 1));
  fs.writeFileSync(path.join(tree, 'bin/podwire'), launcher(options), { mode: 0o755 });
}

/** Copies the compiled code, without tests, declarations and source maps. */
function copyWorkspaces(root, tree) {
  const { workspaces } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  for (const folder of workspaces) {
    const [from, to] = [path.join(root, folder), path.join(tree, folder)];
    const code = path.join(from, 'dist/src');
    if (!fs.existsSync(code)) throw new SetupError(`${code} is missing; run: npm run setup`);
    fs.mkdirSync(to, { recursive: true });
    fs.copyFileSync(path.join(from, 'package.json'), path.join(to, 'package.json'));
    const isProgram = (file) => !/\.(map|d\.ts)$/.test(file);
    fs.cpSync(code, path.join(to, 'dist/src'), { recursive: true, filter: isProgram });
  }
}

/** Those of the lock file that are not for development, as npm has installed them. */
function copyDependencies(root, tree) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  for (const [place, entry] of Object.entries(packages)) {
    if (!place.startsWith('node_modules/') || entry.dev === true) continue;
    const [from, to] = [path.join(root, place), path.join(tree, place)];
    if (!fs.existsSync(from)) continue;
    fs.mkdirSync(path.dirname(to), { recursive: true });
    if (entry.link === true) fs.symlinkSync(path.relative(path.dirname(place), entry.resolved), to);
    else fs.cpSync(from, to, { recursive: true, filter: (file) => isUsed(path.relative(from, file)) });
  }
}

/** Leaves out files for developers of the package, and packages inside it, which have their own entry. */
function isUsed(file) {
  if (/^(node_modules|docs?|tests?|vendor|\.github)(\/|$)/.test(file)) return false;
  return !/\.(map|[cm]?ts|md|cc|cpp|hh?|gyp)$/.test(file) || /licen[cs]e|notice/i.test(file);
}

/** With its licence, which says whose the libraries in it are. */
async function copyNode(tree) {
  const target = path.join(tree, 'bin/node');
  fs.copyFileSync(fs.realpathSync(process.execPath), target);
  fs.chmodSync(target, 0o755);
  // Half of its size; a machine without binutils packs it as it is.
  await run('strip', ['--strip-unneeded', target]).catch(() => undefined);
  const prefix = path.dirname(path.dirname(fs.realpathSync(process.execPath)));
  const places = [
    'LICENSE',
    'share/doc/nodejs/LICENSE',
    'share/doc/node/LICENSE',
    'share/doc/nodejs/copyright',
  ];
  const licence = places.map((place) => path.join(prefix, place)).find((file) => fs.existsSync(file));
  if (licence === undefined)
    throw new SetupError(
      `Node's licence is in none of ${places.join(', ')} below ${prefix}; it must be in the package`,
    );
  fs.copyFileSync(licence, path.join(tree, 'LICENSE.node'));
}

function entriesOf(tree) {
  return fs.readdirSync(tree, { recursive: true, withFileTypes: true });
}

const countFiles = (tree) => entriesOf(tree).filter((entry) => entry.isFile()).length;

/** Also the modes: those of a checkout depend on the umask. */
export function setTimes(tree, epoch) {
  for (const entry of entriesOf(tree)) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) {
      const isOpen = entry.isDirectory() || (fs.statSync(file).mode & 0o100) !== 0;
      fs.chmodSync(file, isOpen ? 0o755 : 0o644);
    }
    fs.lutimesSync(file, epoch, epoch);
  }
  fs.utimesSync(tree, epoch, epoch);
}
