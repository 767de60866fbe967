/** Lists that must agree with each other: a forgotten entry fails only on another machine. */
import fs from 'node:fs';
import path from 'node:path';

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

/** A package that imports another must be built after it. */
function referenceFaults(root, place, manifest, folderOf) {
  const { references = [] } = readJson(root, place, 'tsconfig.json');
  const targets = new Set(references.map((reference) => path.join(place, reference.path)));
  return Object.keys(manifest.dependencies ?? {})
    .filter((name) => folderOf.has(name) && !targets.has(folderOf.get(name)))
    .map((name) => `${place}/tsconfig.json has no reference to ${folderOf.get(name)}, which it depends on`);
}

/** The names of the packages that a source file imports: no files, nothing of Node itself. */
const importsOf = (text) =>
  [...text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*'([^'.$\s][^'\s]*)'/g)]
    .map(([, specifier]) => specifier)
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)[0]);

/** What is imported but not declared works here, where everything lies in one node_modules, and nowhere else. */
function undeclaredFaults(root, place, manifest) {
  const declared = new Set([manifest.name, ...Object.keys(manifest.dependencies ?? {})]);
  const files = fs.readdirSync(path.join(root, place, 'src'), { recursive: true });
  const used = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importsOf(fs.readFileSync(path.join(root, place, 'src', file), 'utf8')));
  return [...new Set(used)]
    .filter((name) => !declared.has(name))
    .map((name) => `${place}/package.json does not declare ${name}, which its sources import`);
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

/** What is wrong, in words; empty when all is well. */
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
    faults.push(...referenceFaults(root, place, manifest, folderOf));
    faults.push(...undeclaredFaults(root, place, manifest), ...sharedModuleFaults(root, place));
  }
  return faults;
}
