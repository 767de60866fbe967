/**
 * The libraries as a user has them: packed, installed into an empty project, and compiled as strictly as TypeScript can.
 * Each example of their READMEs runs, in a network namespace of its own, and prints what the README says.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { compile, createProject, folderOf, libraries } from './support/project.js';
import { type Block, promiseOf, readBlocks } from './support/readme.js';
import { root, run, withNamespace } from './support/run.js';

interface Example {
  readonly name: string;
  readonly block: Block;
  readonly expected: readonly string[];
}

function examplesOf(library: string): readonly Example[] {
  const blocks = readBlocks(folderOf(library));
  return blocks
    .map((block, index) => ({
      block,
      name: `${library}-${index}`,
      expected: promiseOf(block, blocks[index + 1]),
    }))
    .filter(({ block }) => block.language === 'ts' || block.language === 'sh');
}

const all = libraries.flatMap(examplesOf);
const written = all.filter(({ block }) => block.language === 'ts');
/** Those that are shown out of a file are run by the tests of that file. */
const shown = all.filter(
  ({ block, expected }) => expected.length > 0 || !/^(install|examples\/)/.test(block.title),
);

let project: string;
before(async () => {
  project = await createProject(libraries);
  fs.mkdirSync(path.join(project, 'readme'));
  for (const { name, block } of written)
    fs.writeFileSync(path.join(project, 'readme', `${name}.ts`), block.content);
  for (const library of ['cni', 'netlink'])
    fs.cpSync(installed(library, 'examples'), path.join(project, 'examples', library), { recursive: true });
  fs.writeFileSync(path.join(project, 'consumer.ts'), consumer);
  fs.writeFileSync(path.join(project, 'commonjs.cts'), commonjs);
  await compile(project);
});
after(() => fs.rmSync(project, { recursive: true, force: true }));

const installed = (library: string, ...parts: readonly string[]) =>
  path.join(project, 'node_modules/@podwire', library, ...parts);

/** Types that a library refuses and infers. */
const consumer = `
import { convertResult, createRuntime, type Plugin, type Result, runPlugin } from '@podwire/cni';
import { createFakeExec } from '@podwire/cni/fake';
import { type NamespaceHandle, openNamespace } from '@podwire/linux';
import { addRouteRequest, decodeLink, type Link, listRoutes, NetlinkError, openRouteConnection, readLink } from '@podwire/netlink';
import { FakeKernel } from '@podwire/netlink/fake';
import { type Json, openNftables } from '@podwire/nftables';

const plugin: Plugin = { about: 'x', add: (request) => request.prevResult ?? { cniVersion: '1.1.0' }, del: () => {} };
export const main = () => runPlugin(plugin);
export async function attach(): Promise<Result> {
  const runtime = createRuntime({ pluginPath: [], exec: createFakeExec({ x: [{ result: {} }] }) });
  return convertResult(await runtime.add(JSON.parse(''), { containerId: 'a', interfaceName: 'eth0', netns: '/x' }));
}
// @ts-expect-error a result of 0.2.0 has no list of addresses
export const wrong = (result: Result) => convertResult(result, '0.2.0').ips;

const kernel = new FakeKernel();
const open: typeof openRouteConnection = (options) => kernel.open(options);
export const links: Link[] = open().request([]).flat().map(decodeLink);
export const mtu: number | undefined = readLink(open(), 'eth0')?.mtu;
export const gateways: (string | undefined)[] = listRoutes(open(), { family: 6 }).map(({ gateway }) => gateway);
export const isGone = (error: unknown): boolean => error instanceof NetlinkError && error.code === 'ESRCH';
// @ts-expect-error a destination is needed
addRouteRequest({ link: 1 });

/** One handle opens all of them. */
export async function inspect(file: string): Promise<readonly Json[]> {
  const namespace: NamespaceHandle = openNamespace(file);
  readLink(openRouteConnection({ namespace }), 'eth0');
  return await openNftables({ namespace }).listRuleset('inet', 'filter');
}
`;

const commonjs = libraries
  .map(
    (library) =>
      `import ${library} = require('@podwire/${library}');\nconsole.log(Object.keys(${library}).length > 0);`,
  )
  .join('\n');

/** Durations are the machine's; everything else must be as the README has it. */
const withoutTimes = (text: string) => text.replaceAll(/\b\d+ ms\b/g, 'N ms');

/** In a namespace of its own. */
async function runExample({ name, block }: Example): Promise<string> {
  const compiled = path.join(project, 'out/readme', `${name}.js`);
  const command = block.language === 'sh' ? block.content.trim().split(' ') : [process.execPath, compiled];
  return await withNamespace((namespace) => run(project, 'ip', 'netns', 'exec', namespace, ...command));
}

test('each README has an example, in TypeScript', () => {
  const lacking = libraries.filter((library) => !written.some(({ name }) => name.startsWith(`${library}-`)));
  assert.deepEqual(lacking, []);
  const untyped = libraries.filter((library) =>
    readBlocks(folderOf(library)).some(({ language }) => language === 'js'),
  );
  assert.deepEqual(untyped, []);
});

for (const example of shown) {
  const [first = ''] = example.block.content.trim().split('\n');
  test(`${example.name} prints what the README says: ${first}`, async () => {
    const printed = (await runExample(example)).trim();
    assert.equal(withoutTimes(printed), withoutTimes(example.expected.join('\n')));
  });
}

test('an example that the README shows is the one that is packed', () => {
  for (const { name, block } of written.filter(({ block: { title } }) => title.startsWith('examples/')))
    assert.equal(
      block.content,
      fs.readFileSync(installed(name.replace(/-\d+$/, ''), block.title), 'utf8'),
      name,
    );
});

const packedExample = (name: string) => installed('netlink', 'dist/examples', `${name}.js`);

test('an example connects a namespace, and packets pass', async () => {
  await withNamespace((host) =>
    withNamespace(async (pod, file) => {
      const inHost = (...command: readonly string[]) => run(project, 'ip', 'netns', 'exec', host, ...command);
      const told = await inHost(process.execPath, packedExample('connect-namespace'), file, '10.1.0.2');
      assert.equal(told, '10.1.0.2 is behind web0\n');
      await inHost('ip', 'link', 'set', 'lo', 'up');
      await inHost('ip', 'address', 'add', '10.9.9.9/32', 'dev', 'lo');
      await run(project, 'ip', 'netns', 'exec', pod, 'ping', '-c', '1', '-w', '30', '10.9.9.9');
      const listed = await inHost(process.execPath, packedExample('list-links'), file);
      assert.match(listed, /^lo \(device\) up, mtu 65536: 127\.0\.0\.1\/8, ::1\/128$/m);
      assert.match(listed, /^eth0 \(veth\) up, mtu 1500: 10\.1\.0\.2\/32/m);
    }),
  );
});

test('an example limits a rate in both directions', async () => {
  await withNamespace(async (name) => {
    const inside = (...command: readonly string[]) => run(project, 'ip', 'netns', 'exec', name, ...command);
    await inside('ip', 'link', 'add', 'v0', 'up', 'type', 'veth', 'peer', 'name', 'v1');
    const told = await inside(process.execPath, packedExample('limit-rate'), 'v0', '8000000');
    assert.equal(told, "v0 { kind: 'tbf', rate: 8000000, burst: 10000, limit: 20000 }\n");
    for (const link of ['v0', 'in-v0'])
      assert.match(await inside('tc', 'qdisc', 'show', 'dev', link, 'root'), /tbf .* rate 8Mbit/);
    assert.match(
      await inside('tc', 'filter', 'show', 'dev', 'v0', 'ingress'),
      /mirred \(Egress Redirect to device in-v0\)/,
    );
  });
});

test('require() loads each library', async () => {
  const printed = await run(project, process.execPath, path.join(project, 'out/commonjs.cjs'));
  assert.equal(printed, 'true\n'.repeat(libraries.length));
});

test('only koffi and gRPC come from others', () => {
  const modules = fs.readdirSync(path.join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
  const lock = JSON.parse(fs.readFileSync(path.join(project, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
  };
  const needed = Object.entries(lock.packages)
    .filter(([place]) => /^node_modules\/@podwire\/[^/]+$/.test(place))
    .flatMap(([, { dependencies = {} }]) => Object.keys(dependencies))
    .filter((name) => !name.startsWith('@podwire/'));
  assert.deepEqual([...new Set(needed)].toSorted(), ['@bufbuild/protobuf', '@grpc/grpc-js', 'koffi']);
  assert.ok(modules.includes('@podwire'));
  assert.deepEqual(Object.keys(lock.packages['node_modules/@podwire/cni']?.dependencies ?? {}).toSorted(), [
    '@podwire/addresses',
    '@podwire/platform',
  ]);
});

test('every public package can be released', async () => {
  assert.match(await run(root, process.execPath, 'scripts/release.mjs', '--dry-run'), /^✓ \d+ packages/m);
});

test('each archive has its licence, its changelog and its sources', () => {
  for (const library of libraries) {
    for (const file of ['LICENSE', 'CHANGELOG.md', 'README.md', 'src/index.ts', 'dist/src/index.js.map'])
      assert.ok(fs.existsSync(installed(library, file)), `${library} has no ${file}`);
    const manifest = JSON.parse(fs.readFileSync(installed(library, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    for (const field of ['repository', 'homepage', 'bugs'])
      assert.notEqual(manifest[field], undefined, `${library}: ${field}`);
  }
});
