/** Lists that must agree with each other: a forgotten entry fails only on another machine. */
import fs from 'node:fs';
import path from 'node:path';
import { namedFiles } from '../release/contents.mjs';

const readJson = (...parts) => JSON.parse(fs.readFileSync(path.join(...parts), 'utf8'));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const sorted = (record = {}) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

function findPackages(root, folder = 'packages') {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    if (!entry.isDirectory() || entry.name === 'node_modules') return [];
    return fs.existsSync(path.join(root, place, 'package.json')) ? [place] : findPackages(root, place);
  });
}

/** `npm ci` refuses a lock file that says something else than the packages do. */
const lockFaults = (place, manifest, locked) =>
  ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
    .filter((kind) => !same(sorted(manifest[kind]), sorted(locked?.[kind])))
    .map(
      (kind) => `package-lock.json is behind the ${kind} of ${place || 'the workspace'}; run: npm install`,
    );

/** A package must be built after those that it imports, and need not wait for others. */
export function referenceFaults(place, manifest, references, folderOf) {
  const targets = new Set(references.map((reference) => path.join(place, reference.path)));
  const needed = Object.keys(manifest.dependencies ?? {}).flatMap((name) => folderOf.get(name) ?? []);
  const list = `${place}/tsconfig.json`;
  return [
    ...needed
      .filter((folder) => !targets.has(folder))
      .map((folder) => `${list} has no reference to ${folder}, which it depends on`),
    ...[...targets]
      .filter((folder) => !needed.includes(folder))
      .map((folder) => `${list} has a reference to ${folder}, which it does not depend on`),
  ];
}

/** The names of the packages that a source file imports: no files, nothing of Node itself. */
const importsOf = (text) =>
  [...text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*'([^'.$\s][^'\s]*)'/g)]
    .map(([, specifier]) => specifier)
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)[0]);

/** Folders with code that users run. `page` is the part of the dashboard that runs in a browser. */
const productionFolders = ['src', 'page'];

function readSources(root, place) {
  return productionFolders
    .map((folder) => path.join(root, place, folder))
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((file) => path.join(folder, file)))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => fs.readFileSync(file, 'utf8'));
}

/**
 * Where `dependencies` and the imports of `texts` differ. An undeclared import works here, where everything lies in one
 * node_modules, and nowhere else. An unused dependency is installed by every user, and keeps an arrow open.
 */
export function dependencyFaults(place, manifest, texts) {
  const declared = new Set(Object.keys(manifest.dependencies ?? {}));
  const used = new Set(texts.flatMap(importsOf).filter((name) => name !== manifest.name));
  const list = `${place}/package.json`;
  return [
    ...[...used]
      .filter((name) => !declared.has(name))
      .map((name) => `${list} does not declare ${name}, which its sources import`),
    ...[...declared]
      .filter((name) => !used.has(name))
      .map((name) => `${list} declares ${name}, which its sources do not import`),
  ];
}

/**
 * Test files share their modules (`vitest.config.js`). One that replaces a module (`vi.mock`) needs a process of its own,
 * and a hook at the top of a module that several import would run for the first of them only.
 */
function sharedModuleFaults(root, place) {
  const folder = path.join(root, place, 'test');
  const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : [];
  const find = (isChecked, pattern) =>
    files
      .filter((file) => file.endsWith('.ts') && isChecked(file))
      .filter((file) => pattern.test(fs.readFileSync(path.join(folder, file), 'utf8')));
  const isTest = (file) => file.endsWith('.test.ts');
  return [
    ...find((file) => isTest(file) && !file.endsWith('.mocked.test.ts'), /\bvi\.mock\(/).map(
      (file) => `${place}/test/${file} calls vi.mock, so its name must end in .mocked.test.ts`,
    ),
    ...find((file) => !isTest(file), /^(after|before)(All|Each)\(/m).map(
      (file) => `${place}/test/${file} has a hook that runs for the first file alone that imports it`,
    ),
  ];
}

const isPacked = (file, files) => files.some((each) => file === each || file.startsWith(`${each}/`));

/** Each export needs types and code; a package without `exports` needs `main` and `types`. */
function entryFaults(place, { exports, main, types }) {
  const entries = exports === undefined ? { '.': { types, default: main } } : exports;
  if (entries['.'] === undefined) return [`${place}/package.json has no entry "." in exports`];
  return Object.entries(entries)
    .filter(([, target]) => !target.types || !(target.default ?? target.import))
    .map(([entry]) => `${place}/package.json gives no types and code for its entry "${entry}"`);
}

/**
 * A published package must bring its changelog and its entries. npm packs no CHANGELOG.md that `files` leaves out, and
 * without this check only a release shows it.
 */
export function archiveFaults(place, manifest) {
  if (manifest.private) return [];
  const { files = [], main, types } = manifest;
  const own = [main, types].filter((file) => file !== undefined).map((file) => file.replace(/^\.\//, ''));
  const needed = ['CHANGELOG.md', ...namedFiles(manifest), ...own];
  return [
    ...[...new Set(needed)]
      .filter((file) => !isPacked(file, files))
      .map((file) => `${place}/package.json does not list ${file} in files, so npm does not pack it`),
    ...entryFaults(place, manifest),
  ];
}

/** Faults, in words; empty when all is well. */
export function findRepositoryFaults(root) {
  const workspace = readJson(root, 'package.json');
  const lock = readJson(root, 'package-lock.json').packages;
  const built = new Set(readJson(root, 'tsconfig.json').references.map((reference) => reference.path));
  const places = findPackages(root);
  const folderOf = new Map(places.map((place) => [readJson(root, place, 'package.json').name, place]));
  const faults = lockFaults('', workspace, lock['']);
  for (const place of places) {
    const manifest = readJson(root, place, 'package.json');
    if (!workspace.workspaces.includes(place)) faults.push(`${place} is no workspace of package.json`);
    // A package without tests of its own is a suite that other packages run.
    const hasTests = fs.existsSync(path.join(root, place, 'test'));
    for (const project of hasTests ? [place, `${place}/tsconfig.test.json`] : [place])
      if (!built.has(project)) faults.push(`${project} is not in tsconfig.json, so it is not built`);
    faults.push(...lockFaults(place, manifest, lock[place]));
    const { references = [] } = readJson(root, place, 'tsconfig.json');
    faults.push(...referenceFaults(place, manifest, references, folderOf));
    faults.push(...dependencyFaults(place, manifest, readSources(root, place)));
    faults.push(...sharedModuleFaults(root, place));
    faults.push(...archiveFaults(place, manifest));
  }
  return faults;
}
