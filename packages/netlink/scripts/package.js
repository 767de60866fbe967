/**
 * Makes a package that stands alone. In the workspace this package uses other packages of Podwire; `npm pack`
 * bundles them in, and ships a manifest that names none of them.
 *
 *   node scripts/package.js prepare    before packing: dist/package, and package.json for it
 *   node scripts/package.js restore    after packing: the workspace's own package.json again
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';

const here = path.resolve(import.meta.dirname, '..');
const at = (...parts) => path.join(here, ...parts);
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

const manifestFile = at('package.json');
/** Where the workspace's manifest waits while ours is in its place. */
const keptFile = at('dist/package.workspace.json');
const own = /^@podwire\//;

function writeManifest(text) {
  fs.writeFileSync(`${manifestFile}.new`, text);
  fs.renameSync(`${manifestFile}.new`, manifestFile);
}

function restore() {
  if (!fs.existsSync(keptFile)) return;
  writeManifest(fs.readFileSync(keptFile, 'utf8'));
  fs.rmSync(keptFile);
}

async function bundle() {
  fs.rmSync(at('dist/package'), { recursive: true, force: true });
  await build({
    absWorkingDir: here,
    entryPoints: { index: 'dist/src/index.js', 'fake/index': 'dist/src/fake/index.js' },
    outdir: 'dist/package',
    bundle: true,
    // One copy of what both entries use, so that their error classes are the same.
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['koffi'],
    legalComments: 'none',
    logLevel: 'warning',
  });
}

/** Declarations refer to each other only, so they go as they are. */
function copyDeclarations() {
  const files = fs.readdirSync(at('dist/src'), { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  for (const file of files) {
    const text = fs.readFileSync(at('dist/src', file), 'utf8');
    if (/from '@podwire\//.test(text)) throw new Error(`${file} refers to a package that is not shipped`);
    fs.mkdirSync(path.dirname(at('dist/package', file)), { recursive: true });
    fs.writeFileSync(at('dist/package', file), text);
  }
}

/** What is left to install: the dependencies of the packages that are bundled in. */
function outsideDependencies(manifest, require) {
  const found = {};
  for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
    if (!own.test(name)) found[name] = range;
    else Object.assign(found, outsideDependencies(readJson(manifestOf(name, require)), require));
  }
  return found;
}

/** Packages do not export their manifest; it lies above their entry. */
function manifestOf(name, require) {
  for (const folder of require.resolve.paths(name)) {
    const file = path.join(folder, name, 'package.json');
    if (fs.existsSync(file)) return file;
  }
  throw new Error(`${name} is not installed`);
}

function shippedManifest(manifest) {
  const exports = JSON.stringify(manifest.exports).replaceAll('./dist/src/', './dist/package/');
  const shipped = {
    ...manifest,
    exports: JSON.parse(exports),
    files: manifest.files.map((file) => (file === 'dist/src' ? 'dist/package' : file)),
    dependencies: outsideDependencies(manifest, createRequire(manifestFile)),
  };
  delete shipped.scripts;
  return shipped;
}

async function prepare() {
  restore();
  await bundle();
  copyDeclarations();
  const licence = at('../../LICENSE');
  if (fs.existsSync(licence)) fs.copyFileSync(licence, at('dist/package/LICENSE'));
  const text = fs.readFileSync(manifestFile, 'utf8');
  fs.writeFileSync(keptFile, text);
  writeManifest(`${JSON.stringify(shippedManifest(JSON.parse(text)), null, 2)}\n`);
}

const [command] = process.argv.slice(2);
if (command === 'prepare') await prepare();
else if (command === 'restore') restore();
else throw new Error('usage: package.js prepare|restore');
