import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const packageDirectory = path.resolve(import.meta.dirname, '../..');

let project: string;
before(async () => {
  project = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-readme-'));
  const tarballs = await Promise.all(['cni', 'platform', 'addresses'].map(pack));
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"example","private":true,"type":"module"}');
  // The two dependencies have none themselves: nothing else is fetched, and `--offline` proves it.
  await npm(project, 'install', '--ignore-scripts', '--offline', ...tarballs);
});
after(() => fs.rmSync(project, { recursive: true, force: true }));

async function pack(name: string): Promise<string> {
  const directory = path.resolve(packageDirectory, '..', name);
  const { stdout } = await npm(directory, 'pack', '--json', '--pack-destination', project);
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return path.join(project, packed.filename);
}

function npm(cwd: string, ...args: string[]) {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  return execute('npm', [...args, ...quiet], { cwd, timeout: 120_000 });
}

/** A fenced block of the README: language, what else stands on the fence, content. */
interface Block {
  readonly language: string;
  readonly title: string;
  readonly content: string;
}

const readme = fs.readFileSync(path.join(packageDirectory, 'README.md'), 'utf8');
const blocks: Block[] = [...readme.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(
  ([, language = '', title = '', content = '']) => ({ language, title, content }),
);

/** Durations are the machine's; everything else must be as the README has it. */
const withoutTimes = (text: string) => text.replaceAll(/\b\d+ ms\b/g, 'N ms');

async function run(block: Block, index: number): Promise<string> {
  if (block.language === 'sh') {
    const [program = '', ...args] = block.content.trim().split(' ');
    const { stdout, stderr } = await execute(program, args, { cwd: project, timeout: 60_000 });
    return stdout + stderr;
  }
  const file = path.join(project, `readme-${index}.mjs`);
  fs.writeFileSync(file, block.content);
  const { stdout } = await execute(process.execPath, [file], { cwd: project, timeout: 60_000 });
  return stdout;
}

const examples = blocks
  .map((block, index) => ({ block, index, expected: blocks[index + 1] }))
  .filter(({ block, expected }) => block.title === '' && expected?.language === 'text');

test('the README has examples, and each has its output behind it', () => {
  assert.ok(examples.length >= 5, `only ${examples.length}`);
  const untold = blocks.filter(
    ({ language, title }, index) =>
      language !== 'text' && title === '' && blocks[index + 1]?.language !== 'text',
  );
  assert.deepEqual(untold, []);
});

for (const { block, index, expected } of examples) {
  test(`prints what the README says: ${block.content.trim().split('\n')[0]}`, async () => {
    assert.equal(withoutTimes(await run(block, index)), withoutTimes(expected?.content ?? ''));
  });
}

test('the plugin that the README shows is the one in examples/, and is small', () => {
  const shown = blocks.find(({ title }) => title === 'examples/pod-names.mjs');
  assert.equal(
    shown?.content,
    fs.readFileSync(path.join(packageDirectory, 'examples/pod-names.mjs'), 'utf8'),
  );
  assert.ok((shown?.content.split('\n').length ?? 99) <= 45);
});

test('the package brings along only two others of Podwire, which depend on nothing', () => {
  const installed = fs
    .readdirSync(path.join(project, 'node_modules'))
    .filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed, ['@podwire']);
  assert.deepEqual(fs.readdirSync(path.join(project, 'node_modules/@podwire')), [
    'addresses',
    'cni',
    'platform',
  ]);
  const shipped = fs.readdirSync(path.join(project, 'node_modules/@podwire/cni')).toSorted();
  assert.deepEqual(shipped, ['README.md', 'dist', 'examples', 'package.json']);
});

test('its types satisfy a strict consumer', async () => {
  const root = path.resolve(packageDirectory, '../..');
  fs.writeFileSync(
    path.join(project, 'consumer.ts'),
    `import { convertResult, createRuntime, type Plugin, type Result, runPlugin } from '@podwire/cni';
import { createFakeExec } from '@podwire/cni/fake';
const runtime = createRuntime({ pluginPath: [], exec: createFakeExec({ x: [{ result: {} }] }) });
const plugin: Plugin = { about: 'x', add: (request) => request.prevResult ?? { cniVersion: '1.1.0' }, del: () => {} };
export async function attach(): Promise<Result> {
  const done = await runtime.add(JSON.parse(''), { containerId: 'a', interfaceName: 'eth0', netns: '/x' });
  return convertResult(done, '1.1.0');
}
// @ts-expect-error a result of 0.2.0 has no list of addresses
export const wrong = (result: Result) => convertResult(result, '0.2.0').ips;
export const main = () => runPlugin(plugin);
`,
  );
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
  const options = [
    '--strict',
    '--noEmit',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--exactOptionalPropertyTypes',
  ];
  const types = ['--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types')];
  await execute(process.execPath, [compiler, ...options, ...types, 'consumer.ts'], {
    cwd: project,
    timeout: 120_000,
  }).catch((error: { stdout?: string }) => assert.fail(error.stdout ?? 'the compiler could not be run'));
});
