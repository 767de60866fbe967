/** The installer with the plugin as `npm run setup` built it. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PodwireError } from '@podwire/errors';
import { renderConflist as renderKubeOvn } from '@podwire/kube-ovn-cni';
import { renderNetworkConfig } from '@podwire/openshift-cni';
import { type InstallOptions, installPlugin, uninstallPlugin } from '../src/commands/install.js';
import { renderConflist } from '../src/commands/install-conflist.js';
import { installForeign } from '../src/commands/install-foreign.js';
import type { Io } from '../src/io.js';
import { runPodwire } from '../src/program.js';

let top: string;
let folders: { cniBinDir: string; cniConfDir: string };
let plugin: string;
let ipam: string;
let conflist: string;

beforeEach(() => {
  top = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-install-'));
  folders = { cniBinDir: path.join(top, 'opt/cni/bin'), cniConfDir: path.join(top, 'etc/cni/net.d') };
  plugin = path.join(folders.cniBinDir, 'podwire-cni');
  ipam = path.join(folders.cniBinDir, 'podwire-ipam');
  conflist = path.join(folders.cniConfDir, '10-podwire.conflist');
});
afterEach(() => fs.rmSync(top, { recursive: true }));

const everything = (): string[] => fs.readdirSync(top, { recursive: true, encoding: 'utf8' }).sort();
const modeOf = (file: string): string => (fs.statSync(file).mode & 0o777).toString(8);
const versionsOf = (file: string): unknown =>
  (
    JSON.parse(execFileSync(file, { env: { CNI_COMMAND: 'VERSION' }, encoding: 'utf8' })) as {
      supportedVersions: unknown[];
    }
  ).supportedVersions.at(-1);
const makeFolders = (): void => {
  for (const folder of Object.values(folders)) fs.mkdirSync(folder, { recursive: true });
};
const coded = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof PodwireError && error.code === code && text.test(error.message);
const actions = ({ changes }: { changes: readonly { action: string }[] }): string[] =>
  changes.map(({ action }) => action);

describe('installPlugin', () => {
  for (const kind of ['c', 'js'] as const)
    it(`installs the plugin (${kind}) and the configuration, and uninstallPlugin takes all of it away`, async () => {
      const installed = await installPlugin({ ...folders, plugin: kind });
      assert.deepEqual(installed, {
        plugin: kind,
        changes: [
          { path: folders.cniBinDir, action: 'created' },
          { path: folders.cniConfDir, action: 'created' },
          { path: plugin, action: 'created' },
          { path: ipam, action: 'created' },
          { path: conflist, action: 'created' },
        ],
      });
      assert.equal(modeOf(plugin), '755');
      assert.equal(modeOf(conflist), '644');
      assert.equal(versionsOf(plugin), '1.1.0');
      assert.deepEqual(fs.readFileSync(ipam), fs.readFileSync(plugin));
      const expected = renderConflist({ name: 'podwire', socket: '/run/podwire/cni.sock' });
      assert.equal(fs.readFileSync(conflist, 'utf8'), expected);
      const removed = await uninstallPlugin(folders);
      assert.deepEqual(removed.changes.slice(0, 3), [
        { path: conflist, action: 'removed' },
        { path: plugin, action: 'removed' },
        { path: ipam, action: 'removed' },
      ]);
      assert.deepEqual(everything(), []);
    });

  it('takes the static program by itself', async () => {
    assert.equal((await installPlugin(folders)).plugin, 'c');
  });

  it('takes the twin where the program is none, is for another processor, or is missing', async () => {
    const built = path.resolve(import.meta.dirname, '../../../../bin');
    const pluginDir = path.join(top, 'built');
    fs.mkdirSync(pluginDir);
    fs.copyFileSync(path.join(built, 'podwire-cni.js'), path.join(pluginDir, 'podwire-cni.js'));
    const program = path.join(pluginDir, 'podwire-cni');
    const foreign = fs.readFileSync(path.join(built, 'podwire-cni'));
    foreign.writeUInt16LE(0xbeef, 18); // e_machine of the ELF header
    for (const content of [undefined, foreign, fs.readFileSync(path.join(built, 'podwire-cni.js'))]) {
      if (content) fs.writeFileSync(program, content, { mode: 0o755 });
      assert.equal((await installPlugin({ ...folders, pluginDir })).plugin, 'js');
    }
    await assert.rejects(
      installPlugin({ ...folders, pluginDir, plugin: 'c' }),
      coded('INSTALL_FAILED', /npm run setup/),
    );
    fs.rmSync(pluginDir, { recursive: true });
    await assert.rejects(installPlugin({ ...folders, pluginDir }), coded('INSTALL_FAILED', /npm run setup/));
  });

  it('runs the twin with the Node that installed it, whatever PATH the runtime has', async () => {
    await installPlugin({ ...folders, plugin: 'js' });
    assert.ok(fs.readFileSync(plugin, 'utf8').startsWith(`#!${process.execPath}\n`));
    assert.equal(versionsOf(plugin), '1.1.0');
  });

  it('changes nothing the second time', async () => {
    await installPlugin(folders);
    const before = [plugin, conflist].map((file) => fs.statSync(file));
    const again = await installPlugin(folders);
    assert.deepEqual(
      actions(again),
      Array.from({ length: 5 }, () => 'unchanged'),
    );
    const inodes = (stats: fs.Stats[]) => stats.map(({ ino, mtimeMs }) => [ino, mtimeMs]);
    assert.deepEqual(inodes([plugin, conflist].map((file) => fs.statSync(file))), inodes(before));
  });

  it('replaces what an installation with other options left', async () => {
    await installPlugin({ ...folders, plugin: 'js' });
    const again = await installPlugin({ ...folders, plugin: 'c', name: 'blue', socket: '/run/blue.sock' });
    assert.deepEqual(actions(again).slice(2), ['replaced', 'replaced', 'replaced']);
    assert.equal(
      fs.readFileSync(conflist, 'utf8'),
      renderConflist({ name: 'blue', socket: '/run/blue.sock' }),
    );
  });

  it('restores the modes', async () => {
    await installPlugin(folders);
    fs.chmodSync(plugin, 0o644);
    assert.deepEqual(actions(await installPlugin(folders)).slice(2), ['replaced', 'unchanged', 'unchanged']);
    assert.equal(modeOf(plugin), '755');
  });

  it('is not narrowed by the umask', async () => {
    const before = process.umask(0o077);
    try {
      await installPlugin(folders);
    } finally {
      process.umask(before);
    }
    assert.equal(modeOf(plugin), '755');
    assert.equal(modeOf(conflist), '644');
  });

  it('replaces the program while it runs', async () => {
    await installPlugin({ ...folders, plugin: 'c' });
    const socket = path.join(top, 'agent.sock');
    const agent = net.createServer({ allowHalfOpen: true }).listen(socket);
    const child = spawn(plugin, { env: { CNI_COMMAND: 'ADD' } });
    child.stdin.end(JSON.stringify({ socket }));
    const [connection] = (await once(agent, 'connection')) as [net.Socket];
    await installPlugin({ ...folders, plugin: 'js' });
    await installPlugin({ ...folders, plugin: 'c' });
    connection.end('0');
    assert.deepEqual(await once(child, 'close'), [0, null]);
    agent.close();
  });

  it('writes the configuration last: it is never seen without a plugin that runs', async () => {
    makeFolders();
    const seen: unknown[] = [];
    const watcher = fs.watch(folders.cniConfDir, (_event, name) => {
      if (name === '10-podwire.conflist') seen.push([JSON.parse(fs.readFileSync(conflist, 'utf8')), versionsOf(plugin)]); // prettier-ignore
    });
    await installPlugin(folders);
    if (seen.length === 0) await once(watcher, 'change');
    watcher.close();
    const list = JSON.parse(renderConflist({ name: 'podwire', socket: '/run/podwire/cni.sock' })) as unknown;
    assert.deepEqual(seen[0], [list, '1.1.0']);
  });

  it('leaves files of others alone, and replaces them when it is told to', async () => {
    const theirs = '{"name":"other","plugins":[]}';
    for (const file of [plugin, conflist]) {
      makeFolders();
      fs.writeFileSync(file, theirs);
      const before = everything();
      await assert.rejects(installPlugin(folders), coded('INSTALL_REFUSED', new RegExp(path.basename(file))));
      assert.equal(fs.readFileSync(file, 'utf8'), theirs);
      assert.deepEqual(everything(), before);
      await installPlugin({ ...folders, force: true });
      assert.notEqual(fs.readFileSync(file, 'utf8'), theirs);
      await uninstallPlugin(folders);
    }
  });

  it('refuses a name and a socket that no runtime or kernel takes', async () => {
    const wrong: Partial<InstallOptions>[] = [
      ...['', '../x', 'a b', '-x'].map((name) => ({ name })),
      ...['', 'run/x.sock', `/${'x'.repeat(107)}`, '/a\0b'].map((socket) => ({ socket })),
    ];
    for (const options of wrong)
      await assert.rejects(installPlugin({ ...folders, ...options }), coded('CONFIG_INVALID', /name|socket/));
    assert.deepEqual(everything(), []);
  });

  it('leaves nothing half done where it cannot write', async () => {
    fs.mkdirSync(path.dirname(folders.cniConfDir), { recursive: true });
    fs.writeFileSync(folders.cniConfDir, 'a file where a folder should be');
    await assert.rejects(installPlugin(folders), coded('INSTALL_FAILED', /cannot install/));
    assert.equal(fs.existsSync(plugin), false);
  });

  it('clears away what an installer that was killed left, and leaves a running one alone', async () => {
    makeFolders();
    const gone = spawn('true');
    await once(gone, 'close');
    const left = [`.podwire-cni-new-${gone.pid}`, `.podwire-cni-new-${process.ppid}`, '.podwire-cni-new-x'];
    for (const name of left) fs.writeFileSync(path.join(folders.cniBinDir, name), '');
    await installPlugin(folders);
    assert.deepEqual(
      fs.readdirSync(folders.cniBinDir).sort(),
      ['podwire-cni', 'podwire-ipam', ...left.slice(1)].sort(),
    );
  });
});

describe('uninstallPlugin', () => {
  it('has nothing to do where nothing is installed', async () => {
    assert.deepEqual(actions(await uninstallPlugin(folders)), ['absent', 'absent', 'absent']);
  });

  it('keeps folders that were there before, and what others put into those it made', async () => {
    fs.mkdirSync(folders.cniBinDir, { recursive: true });
    await installPlugin(folders);
    fs.writeFileSync(path.join(folders.cniConfDir, '99-loopback.conf'), '{}');
    await uninstallPlugin(folders);
    assert.deepEqual(everything(), [
      'etc',
      'etc/cni',
      'etc/cni/net.d',
      'etc/cni/net.d/99-loopback.conf',
      'opt',
      'opt/cni',
      'opt/cni/bin',
    ]);
  });

  it('keeps a configuration that was changed since, unless it is told to remove it', async () => {
    makeFolders();
    await installPlugin(folders);
    const list = JSON.parse(fs.readFileSync(conflist, 'utf8')) as { plugins: unknown[] };
    list.plugins.push({ type: 'portmap', capabilities: { portMappings: true } });
    fs.writeFileSync(conflist, JSON.stringify(list));
    assert.deepEqual(actions(await uninstallPlugin(folders)), ['kept', 'removed', 'removed']);
    assert.deepEqual(actions(await uninstallPlugin({ ...folders, force: true })), [
      'removed',
      'absent',
      'absent',
    ]);
  });
});

const others = [
  {
    name: 'openshift-sdn',
    ...{ file: '80-openshift-network.conf', text: renderNetworkConfig('0.2.0'), newest: '0.3.1' },
  },
  {
    name: 'kube-ovn',
    ...{ file: '01-kube-ovn.conflist', text: renderKubeOvn('/run/x/kube-ovn.sock'), newest: '0.4.0' },
  },
] as const;

for (const { name, file, text, newest } of others)
  describe(`installForeign of ${name}`, () => {
    const place = (): string => path.join(folders.cniBinDir, name);
    const config = (): string => path.join(folders.cniConfDir, file);

    for (const kind of ['c', 'js'] as const)
      it(`installs ${name} alone (${kind}), and uninstallPlugin takes it away with the agent’s configuration`, async () => {
        const options = { ...folders, plugin: kind };
        const installed = await installForeign(name, options);
        assert.deepEqual(installed, {
          plugin: kind,
          changes: [
            { path: folders.cniBinDir, action: 'created' },
            { path: folders.cniConfDir, action: 'created' },
            { path: place(), action: 'created' },
          ],
        });
        assert.equal(versionsOf(place()), newest);
        assert.equal(fs.readFileSync(place()).subarray(1, 4).toString() === 'ELF', kind === 'c');
        assert.deepEqual(actions(await installForeign(name, options)), [
          'unchanged',
          'unchanged',
          'unchanged',
        ]);
        fs.writeFileSync(config(), text);
        const removed = await uninstallPlugin(folders);
        assert.deepEqual(removed.changes.slice(3, 5), [
          { path: config(), action: 'removed' },
          { path: place(), action: 'removed' },
        ]);
        assert.deepEqual(everything(), []);
      });

    it('takes the static program by itself, and replaces the twin of an earlier installation', async () => {
      await installForeign(name, { ...folders, plugin: 'js' });
      const installed = await installForeign(name, folders);
      assert.equal(installed.plugin, 'c');
      assert.deepEqual(actions(installed), ['unchanged', 'unchanged', 'replaced']);
    });

    it('leaves the original plugin and its configuration alone', async () => {
      makeFolders();
      fs.writeFileSync(place(), '#!/bin/sh');
      fs.writeFileSync(config(), text);
      await assert.rejects(installForeign(name, folders), coded('INSTALL_REFUSED', new RegExp(name)));
      assert.deepEqual(actions(await uninstallPlugin(folders)), ['absent', 'absent', 'absent']);
      assert.equal(fs.readFileSync(place(), 'utf8'), '#!/bin/sh');
      await installForeign(name, { ...folders, force: true });
      assert.equal(versionsOf(place()), newest);
    });

    it('keeps a configuration that was changed since', async () => {
      await installForeign(name, folders);
      fs.writeFileSync(config(), renderNetworkConfig('0.2.0').replace('}', ', "mtu": 1400 }'));
      const changes = actions(await uninstallPlugin(folders));
      assert.deepEqual(changes.slice(3, 5), ['kept', 'removed']);
    });
  });

it('the command says what it has done, and that nothing changed when it is repeated', async () => {
  const io: Io = {
    stdout: { write: (text) => void (said += text) },
    stderr: { write: () => undefined },
    env: {},
    now: () => 0,
    color: false,
    exitCode: 0,
  };
  let said = '';
  const { cniBinDir, cniConfDir } = folders;
  const argv = ['install', '--cni-bin-dir', cniBinDir, '--cni-conf-dir', cniConfDir, '--plugin', 'js'];
  assert.equal(await runPodwire(argv, io), 0);
  assert.match(said, /\ninstalled the JavaScript plugin\n$/);
  said = '';
  assert.equal(await runPodwire(argv, io), 0);
  assert.match(said, /\nnothing changed: the JavaScript plugin is installed\n$/);
  assert.doesNotMatch(said, /created|replaced/);
  said = '';
  assert.equal(await runPodwire([...argv, '--openshift'], io), 0);
  assert.match(said, /\ninstalled the JavaScript plugin openshift-sdn\n$/);
});
