/** Packs this package, installs it into an empty project, and runs there what the README shows. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createNamespace, deleteNamespace } from '@podwire/linux';

const execute = promisify(execFile);
const here = path.resolve(import.meta.dirname, '../..');
const workspace = path.resolve(here, '../..');

let project: string;
let packed: { filename: string; files: { path: string }[] };

before(async () => {
  project = fs.mkdtempSync(path.join(os.tmpdir(), 'netlink-readme-'));
  // Packing puts another package.json in place for a moment; others are testing in this checkout meanwhile.
  const copy = path.join(project, 'workspace', 'packages', 'netlink');
  for (const entry of ['package.json', 'README.md', 'dist/src', 'examples', 'scripts'])
    fs.cpSync(path.join(here, entry), path.join(copy, entry), { recursive: true });
  fs.cpSync(path.join(workspace, 'LICENSE'), path.join(project, 'workspace', 'LICENSE'));
  fs.symlinkSync(path.join(workspace, 'node_modules'), path.join(project, 'workspace', 'node_modules'));
  const before = fs.readFileSync(path.join(copy, 'package.json'), 'utf8');
  const { stdout } = await npm(copy, 'pack', '--json', '--pack-destination', project);
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [typeof packed];
  assert.equal(fs.readFileSync(path.join(copy, 'package.json'), 'utf8'), before);
  fs.rmSync(path.join(project, 'workspace'), { recursive: true });
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"a-user","private":true,"type":"module"}');
  await npm(project, 'install', '--ignore-scripts', path.join(project, packed.filename));
});
after(() => fs.rmSync(project, { recursive: true, force: true }));

function npm(cwd: string, ...args: string[]) {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  return execute('npm', [...args, ...quiet], { cwd, timeout: 180_000 });
}

let count = 0;

/** A namespace of its own for every example; its loopback is down. */
async function withNamespace<T>(work: (name: string, file: string) => Promise<T>): Promise<T> {
  const file = `/run/netns/netlink-readme-${process.pid}-${count++}`;
  createNamespace(file);
  try {
    return await work(path.basename(file), file);
  } finally {
    deleteNamespace(file);
  }
}

async function runIn(namespace: string, ...command: string[]): Promise<string> {
  const args = ['netns', 'exec', namespace, ...command];
  const { stdout } = await execute('ip', args, { cwd: project, timeout: 60_000 });
  return stdout;
}

/** A fenced block of the README: language, what else stands on the fence, content. */
interface Block {
  readonly language: string;
  readonly title: string;
  readonly content: string;
}

const readme = fs.readFileSync(path.join(here, 'README.md'), 'utf8');
const blocks: Block[] = [...readme.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(
  ([, language = '', title = '', content = '']) => ({ language, title, content }),
);
const shown = blocks
  .map((block, index) => ({ block, index, expected: blocks[index + 1] }))
  .filter(({ block, expected }) => block.language === 'js' && expected?.language === 'text');

test('the README’s pieces of code have their output behind them', () => {
  assert.ok(shown.length >= 6, `only ${shown.length}`);
  const untold = blocks.filter(
    ({ language, title }, index) =>
      language === 'js' && title === '' && blocks[index + 1]?.language !== 'text',
  );
  assert.deepEqual(untold, []);
});

for (const { block, index, expected } of shown) {
  test(`prints what the README says: ${block.title || block.content.split('\n')[0]}`, async () => {
    const file = path.join(project, `readme-${index}.mjs`);
    fs.writeFileSync(file, block.content);
    await withNamespace(async (name) => {
      assert.equal(await runIn(name, process.execPath, file), expected?.content);
    });
  });
}

test('the examples that the README shows are those of the folder', () => {
  const titled = blocks.filter(({ title }) => title !== '');
  assert.deepEqual(
    titled.map(({ title }) => title),
    ['examples/connect-namespace.mjs', 'examples/test-without-root.mjs'],
  );
  for (const { title, content } of titled)
    assert.equal(content, fs.readFileSync(path.join(here, title), 'utf8'), title);
});

const example = (name: string): string => {
  // As the package ships it, but where the project's packages are found.
  const file = path.join(project, name);
  fs.copyFileSync(path.join(project, 'node_modules/@podwire/netlink/examples', name), file);
  return file;
};

test('an example connects a namespace, and packets pass', async () => {
  await withNamespace((host) =>
    withNamespace(async (pod, file) => {
      const node = process.execPath;
      const told = await runIn(host, node, example('connect-namespace.mjs'), file, '10.1.0.2');
      assert.equal(told, '10.1.0.2 is behind web0\n');
      await runIn(host, 'ip', 'link', 'set', 'lo', 'up');
      await runIn(host, 'ip', 'address', 'add', '10.9.9.9/32', 'dev', 'lo');
      await runIn(pod, 'ping', '-c', '1', '-W', '5', '10.9.9.9');
      const listed = await runIn(host, node, example('list-links.mjs'), file);
      assert.match(listed, /^lo \(device\) up, mtu 65536: 127\.0\.0\.1\/8, ::1\/128$/m);
      assert.match(listed, /^eth0 \(veth\) up, mtu 1500: 10\.1\.0\.2\/32/m);
    }),
  );
});

test('an example limits a rate in both directions', async () => {
  await withNamespace(async (name) => {
    await runIn(name, 'ip', 'link', 'add', 'v0', 'up', 'type', 'veth', 'peer', 'name', 'v1');
    const told = await runIn(name, process.execPath, example('limit-rate.mjs'), 'v0', '8000000');
    assert.equal(told, "v0 { kind: 'tbf', rate: 8000000, burst: 10000, limit: 20000 }\n");
    for (const link of ['v0', 'in-v0'])
      assert.match(await runIn(name, 'tc', 'qdisc', 'show', 'dev', link, 'root'), /tbf .* rate 8Mbit/);
    const filters = await runIn(name, 'tc', 'filter', 'show', 'dev', 'v0', 'ingress');
    assert.match(filters, /mirred \(Egress Redirect to device in-v0\)/);
  });
});

test('the package brings nothing along but koffi', () => {
  const modules = path.join(project, 'node_modules');
  const installed = fs.readdirSync(modules).filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed.toSorted(), ['@koromix', '@podwire', 'koffi']);
  assert.deepEqual(fs.readdirSync(path.join(modules, '@podwire')), ['netlink']);
  const manifest = JSON.parse(
    fs.readFileSync(path.join(modules, '@podwire/netlink/package.json'), 'utf8'),
  ) as {
    dependencies: Record<string, string>;
    scripts?: object;
  };
  assert.deepEqual(Object.keys(manifest.dependencies), ['koffi']);
  assert.equal(manifest.scripts, undefined);
});

test('the package holds what it should', () => {
  const files = packed.files.map((file) => file.path);
  const scripts = files.filter((file) => file.endsWith('.js'));
  const names = scripts.map((file) => file.replace(/-[^/]*\.js$/, '-….js')).toSorted();
  assert.deepEqual(names, [
    'dist/package/fake/index.js',
    'dist/package/index.js',
    'dist/package/shared-….js',
  ]);
  for (const file of [
    'README.md',
    'dist/package/LICENSE',
    'dist/package/index.d.ts',
    'examples/list-links.mjs',
  ])
    assert.ok(files.includes(file), file);
  assert.ok(!files.some((file) => /(^|\/)test\/|tsbuildinfo|dist\/src/.test(file)), files.join(' '));
});

test('its types satisfy a strict consumer', async () => {
  fs.writeFileSync(
    path.join(project, 'consumer.ts'),
    `import { addRouteRequest, decodeLink, type Link, listRoutes, NetlinkError, openRouteConnection } from '@podwire/netlink';
import { FakeKernel } from '@podwire/netlink/fake';
const kernel = new FakeKernel();
const open: typeof openRouteConnection = (options) => kernel.open(options);
const connection = open();
export const links: Link[] = connection.request([]).flat().map(decodeLink);
export const codes: (string | undefined)[] = listRoutes(connection, { family: 6 }).map(({ gateway }) => gateway);
export const isGone = (error: unknown): boolean => error instanceof NetlinkError && error.code === 'ESRCH';
// @ts-expect-error a destination is needed
addRouteRequest({ link: 1 });
`,
  );
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
  const options = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--target', 'es2023'];
  const types = ['--types', 'node', '--typeRoots', path.join(workspace, 'node_modules/@types')];
  const args = [compiler, ...options, '--module', 'nodenext', ...types, 'consumer.ts'];
  await execute(process.execPath, args, { cwd: project, timeout: 120_000 }).catch(
    (error: { stdout?: string }) => assert.fail(error.stdout ?? 'the compiler could not be run'),
  );
});
