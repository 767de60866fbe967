/**
 * Builds `podwire-hold` from the C sources beside this file. The project's set-up calls it, and so does the package's test:
 *
 *   node packages/cri-native/native/build.mjs [OUTPUT]
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const sources = import.meta.dirname;
const COMPILE_MILLISECONDS = 60_000;

/** musl first: what is linked with it starts three times faster. */
const COMPILERS = ['musl-gcc', 'gcc', 'cc'];

const FLAGS = [
  ...['-std=c11', '-O2', '-static', '-s'],
  ...[
    '-Wall',
    '-Wextra',
    '-Wpedantic',
    '-Wshadow',
    '-Wstrict-prototypes',
    '-Wconversion',
    '-Wno-sign-conversion',
  ],
  '-Werror',
];

function findCompiler() {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '');
  const found = (name) =>
    folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
  return COMPILERS.map(found).find((file) => file !== undefined);
}

const listSources = () =>
  fs
    .readdirSync(sources)
    .filter((name) => /\.[ch]$/.test(name))
    .sort()
    .map((name) => path.join(sources, name));

function fingerprint(compiler, files) {
  const hash = createHash('sha256').update(JSON.stringify([compiler, FLAGS]));
  for (const file of files) hash.update(fs.readFileSync(file));
  return hash.digest('hex');
}

/**
 * Writes the program unless it is what it would become. @returns `compiled`, `up to date`, or `absent` without a C compiler
 * @throws Error with the compiler's words
 */
export async function buildHold(output) {
  const compiler = findCompiler();
  if (compiler === undefined) return 'absent';
  const files = listSources();
  const stamp = path.join(sources, '../dist', `native-${path.basename(output)}`);
  const wanted = fingerprint(compiler, files);
  const built = fs.existsSync(output) && fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (built) return 'up to date';
  const draft = `${output}.${process.pid}.tmp`;
  try {
    const inputs = files.filter((file) => file.endsWith('.c'));
    await run(compiler, [...FLAGS, '-o', draft, ...inputs], { timeout: COMPILE_MILLISECONDS });
    // At once, so that a copy that is running is not disturbed.
    fs.renameSync(draft, output);
  } finally {
    fs.rmSync(draft, { force: true });
  }
  fs.mkdirSync(path.dirname(stamp), { recursive: true });
  fs.writeFileSync(stamp, wanted);
  return 'compiled';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = process.argv[2] ?? path.resolve(sources, '../../../bin/podwire-hold');
  console.log(`${output}: ${await buildHold(output)}`);
}
