#!/usr/bin/env node
/**
 * Packs every public package as npm would publish it, and checks what is in it.
 *
 *   node scripts/release.mjs [--dry-run] [--to DIRECTORY]
 *
 * With --dry-run the archives go into a temporary directory. Without it they stay in DIRECTORY (`release`), for
 * `npm publish FILE`: publishing is left to a person.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findPackageFaults } from './release/contents.mjs';
import { preparePackage } from './release/prepack.mjs';
import { runOrFail } from './setup/run.mjs';
import { SetupError } from './setup/show.mjs';

const root = path.resolve(import.meta.dirname, '..');
const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));

/** One call for all packages; npm answers with the files of each. */
async function pack(folders, directory) {
  const workspaces = folders.flatMap((folder) => ['--workspace', folder]);
  const parameters = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory, ...workspaces];
  return JSON.parse(await runOrFail('npm', parameters, { cwd: root }));
}

function faultsOf(folder, packed, { workspace, released }) {
  const manifest = readManifest(folder);
  const files = packed.find(({ name }) => name === manifest.name)?.files.map((file) => file.path) ?? [];
  const readText = (file) => fs.readFileSync(path.join(root, folder, file), 'utf8');
  return findPackageFaults(manifest, { files, readText, folder, workspace, released });
}

async function release(directory) {
  const workspace = readManifest('.');
  const changelog = fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  const folders = workspace.workspaces.filter((folder) => !readManifest(folder).private);
  const released = folders.map((folder) => readManifest(folder).name);
  // The packages' own prepack scripts would do the same one by one.
  for (const folder of folders) await preparePackage(path.join(root, folder));
  const packed = await pack(folders, directory);
  const faults = folders.flatMap((folder) => faultsOf(folder, packed, { workspace, released }));
  if (!/^## \[Unreleased\]$/m.test(changelog)) faults.push('CHANGELOG.md has no section [Unreleased]');
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  const bytes = packed.reduce((sum, { size }) => sum + size, 0);
  console.log(
    `✓ ${packed.length} packages of version ${workspace.version}, ${Math.round(bytes / 1024)} KiB: ${directory}`,
  );
}

function readOptions() {
  const options = {
    'dry-run': { type: 'boolean', default: false },
    to: { type: 'string', default: 'release' },
  };
  const { values } = parseArgs({ options });
  return { isDryRun: values['dry-run'], directory: path.resolve(values.to) };
}

try {
  const { isDryRun, directory } = readOptions();
  const target = isDryRun ? fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-release-')) : directory;
  try {
    fs.mkdirSync(target, { recursive: true });
    await release(target);
  } finally {
    if (isDryRun) fs.rmSync(target, { recursive: true });
  }
} catch (error) {
  const isClear = error instanceof SetupError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isClear ? error.message : error);
  process.exitCode = 1;
}
