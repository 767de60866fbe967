import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createProcessExec } from '@podwire/cni';
import {
  createPodNetwork,
  type PodAttachment,
  type PodNetworkOptions,
  type RunningPodNetwork,
} from '@podwire/pod-network';
import { createPrivateHost, type HostOptions, type PrivateHost, type TestNamespace } from '@podwire/testkit';

/** Where Debian's package `containernetworking-plugins` puts them. */
const debianPlugins = '/usr/lib/cni';

/** A private host whose pods get their network from real plugins. */
export interface PodHost {
  readonly host: PrivateHost;
  /** Directories of the host: configuration, state, own plugins. */
  readonly config: string;
  readonly state: string;
  readonly plugins: string;
  /** Writes a file of the configuration directory. */
  readonly write: (file: string, content: object) => void;
  /** A plugin in shell. `$LOG` is a file for it; VERSION and the previous result are seen to. */
  readonly script: (name: string, body: string) => void;
  /** Output of scripts. */
  readonly log: () => string[];
  /** Makes the next call of the plugin `fuse` with this command fail. */
  readonly blow: (command: 'ADD' | 'DEL') => void;
  readonly start: (options?: Partial<PodNetworkOptions>) => Promise<RunningPodNetwork>;
  /** A sandbox with a new namespace. */
  readonly makePod: (
    id: string,
    more?: Partial<PodAttachment>,
  ) => PodAttachment & { readonly at: TestNamespace };
  readonly leases: (network: string) => string[];
  /** Links of the host's own side but `lo` and bridges. */
  readonly links: () => Promise<string[]>;
  /**
   * For pods whose namespace died first: plugins leave the host's ends of their links to the kernel then, which takes them away
   * in the background, all dead namespaces of the machine one after the other.
   */
  readonly untilLinksGone: () => Promise<void>;
  readonly reboot: () => void;
  readonly cached: () => string[];
  readonly records: () => string[];
  readonly close: () => Promise<void>;
}

export async function createPodHost(name: string, options: HostOptions = {}): Promise<PodHost> {
  assert.ok(
    fs.existsSync(path.join(debianPlugins, 'bridge')),
    'Debian package containernetworking-plugins is missing',
  );
  const host = await createPrivateHost({ name, ...options });
  const at = (...names: string[]): string => path.join(host.directory, ...names);
  const [config, state, plugins, bootIdFile] = [at('net.d'), at('state'), at('plugins'), at('boot_id')];
  for (const folder of [config, plugins]) fs.mkdirSync(folder);
  fs.writeFileSync(bootIdFile, 'boot-1\n');
  const running: RunningPodNetwork[] = [];
  const list = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder).toSorted() : []);
  const self: PodHost = {
    ...{ host, config, state, plugins },
    write: (file, content) => fs.writeFileSync(path.join(config, file), JSON.stringify(content)),
    script: (plugin, body) =>
      fs.writeFileSync(path.join(plugins, plugin), scriptText(at('log'), at('fuse'), body), { mode: 0o755 }),
    log: () => (fs.existsSync(at('log')) ? fs.readFileSync(at('log'), 'utf8').split('\n').slice(0, -1) : []),
    blow: (command) => fs.writeFileSync(at(`fuse.${command}`), ''),
    start: async (more = {}) => {
      const network = await createPodNetwork({
        configDirectory: config,
        stateDirectory: state,
        pluginPath: [plugins, debianPlugins],
        durable: false,
        timeoutMs: 30_000,
        ...more,
        system: {
          // As a runtime of that machine would start them.
          exec: createProcessExec({ around: (start) => host.namespace.inside(start), busyAttempts: 1 }),
          bootIdFile,
          ...more.system,
        },
      });
      running.push(network);
      return network;
    },
    makePod: (id, more = {}) => {
      const namespace = host.addPod(id);
      return {
        ...{ namespace: 'shop', name: id, uid: `uid-${id}`, sandboxId: `${host.name}-${id}` },
        ...{ netns: namespace.path, annotations: {}, portMappings: [], at: namespace },
        ...more,
      };
    },
    leases: (network) => list(at('leases', network)).filter((lease) => /^[\da-f.:]+$/.test(lease)),
    links: async () => {
      const rows = JSON.parse(await host.run(['ip', '-j', 'link'])) as { ifname: string }[];
      return rows.map(({ ifname }) => ifname).filter((link) => !/^(lo|cni\d)$/.test(link));
    },
    untilLinksGone: async () => {
      const end = performance.now() + 10_000;
      while ((await self.links()).length > 0 && performance.now() < end) await setTimeout(20);
      assert.deepEqual(await self.links(), []);
    },
    reboot: () => fs.writeFileSync(bootIdFile, 'boot-2\n'),
    cached: () => list(path.join(state, 'cache/results')),
    records: () => list(path.join(state, 'sandboxes')),
    close: async () => {
      for (const network of running) await network.close();
      await host.close();
    },
  };
  self.script('fuse', '');
  return self;
}

/** Standard input holds the previous result; a plugin without one of its own passes it on. */
function scriptText(log: string, fuse: string, body: string): string {
  return `#!/bin/sh
LOG=${log}
FUSE=${fuse}.$CNI_COMMAND
INPUT=$(cat)
case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}'; exit ;;
esac
if [ -e "$FUSE" ]; then
  rm "$FUSE"
  echo "the fuse has blown" >&2
  echo '{"cniVersion":"1.0.0","code":11,"msg":"as asked for"}'
  exit 1
fi
${body}
[ $CNI_COMMAND = ADD ] && printf '%s' "$INPUT" | ${JSON.stringify(process.execPath)} -e 'let s="";process.stdin.on("data",(d)=>s+=d).on("end",()=>console.log(JSON.stringify(JSON.parse(s).prevResult??{cniVersion:"1.0.0"})))'
exit 0
`;
}

/** Debian's bridge with host-local, whose files are the host's own. */
export const bridgeOf = ({ host }: PodHost, subnet: string, bridge = 'cni0'): object => ({
  type: 'bridge',
  bridge,
  isGateway: true,
  hairpinMode: true,
  ipam: {
    type: 'host-local',
    dataDir: path.join(host.directory, 'leases'),
    ranges: [[{ subnet }]],
    routes: [{ dst: '0.0.0.0/0' }],
  },
});

export const listOf = (name: string, plugins: readonly object[], cniVersion = '1.0.0'): object => ({
  ...{ cniVersion, name, plugins },
});
