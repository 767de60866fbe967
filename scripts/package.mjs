#!/usr/bin/env node
/**
 * Builds what installs on a machine without Node: a tarball and, where dpkg-deb is, a Debian package. Both have the Node
 * that runs this script inside. Built twice from one commit they are the same, byte by byte.
 *
 *   node scripts/package.mjs [--to DIRECTORY]
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildDeb } from './package/deb.mjs';
import { setTimes, writeTree } from './package/tree.mjs';
import { runOrFail } from './setup/run.mjs';
import { SetupError, showStep } from './setup/show.mjs';

const root = path.resolve(import.meta.dirname, '..');

/** Seconds since the epoch, of everything in the packages (reproducible-builds.org). */
async function readEpoch() {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given !== undefined) return Number(given);
  return Number((await runOrFail('git', ['log', '-1', '--format=%ct'], { cwd: root })).trim());
}

async function packTar(parent, name, file, epoch) {
  const same = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'];
  await runOrFail('tar', ['-C', parent, ...same, '--use-compress-program=gzip -n -6', '-cf', file, name]);
}

const size = (file) => `${path.basename(file)}, ${Math.round(fs.statSync(file).size / (1 << 20))} MiB`;

async function buildPackages(directory) {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const epoch = await readEpoch();
  const name = `podwire-${version}-linux-${process.arch}`;
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-package-'));
  fs.mkdirSync(directory, { recursive: true });
  try {
    const tree = path.join(work, name);
    await showStep('files', () => writeTree(root, tree));
    await showStep('tarball', async () => {
      setTimes(tree, epoch);
      const file = path.join(directory, `${name}.tar.gz`);
      await packTar(work, name, file, epoch);
      return size(file);
    });
    await showStep('Debian package', async () => {
      const file = await buildDeb({ root, tree, work, directory, version, epoch });
      return file === undefined ? 'skipped (there is no dpkg-deb)' : size(file);
    });
  } finally {
    fs.rmSync(work, { recursive: true });
  }
}

try {
  const { values } = parseArgs({ options: { to: { type: 'string', default: 'release' } } });
  const directory = path.resolve(values.to);
  await buildPackages(directory);
  console.log(`✓ ${directory}`);
} catch (error) {
  const isClear = error instanceof SetupError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isClear ? error.message : error);
  process.exitCode = 1;
}
