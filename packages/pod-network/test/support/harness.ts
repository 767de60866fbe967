import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  createFakeExec,
  type FakeCall,
  type FakeExec,
  type FakeOptions,
  type FakePlugin,
} from '@podwire/cni/fake';
import {
  createPodNetwork,
  type PodAttachment,
  type PodNetworkOptions,
  type PodNetworkSystem,
  type RunningPodNetwork,
} from '@podwire/pod-network';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [key: string]: unknown;
}

/** A pod network over fake plugins with directories of its own. */
export interface Harness {
  readonly root: string;
  readonly config: string;
  readonly state: string;
  readonly exec: FakeExec;
  readonly log: readonly LogLine[];
  /** Namespaces that exist; the value is their identity. */
  readonly namespaces: Map<string, string>;
  readonly loopbacks: string[];
  /** Calls but VERSION and STATUS, as `ADD bridge c1`. */
  trail(): string[];
  calls(command: string): FakeCall[];
  /** Writes a file of the configuration directory. */
  write(file: string, content: unknown): void;
  start(options?: Partial<PodNetworkOptions>): Promise<RunningPodNetwork>;
  /** Sandboxes that have a record. */
  records(): string[];
  cached(): string[];
  close(): Promise<void>;
}

export interface HarnessOptions {
  readonly plugins?: Readonly<Record<string, FakePlugin>>;
  readonly fake?: FakeOptions;
  readonly system?: Partial<PodNetworkSystem>;
}

export const result = (address = '10.0.0.2/24') => ({
  cniVersion: '1.0.0',
  interfaces: [{ name: 'veth0' }, { name: 'eth0', sandbox: '/run/netns/x' }],
  ips: [{ address, interface: 1 }],
});

/** Answers ADD with an address and all else with success. */
export const bridge: FakePlugin = ({ command }) => (command === 'ADD' ? { result: result() } : undefined);

export const conflist = (name: string, types: readonly (string | object)[], more: object = {}) => ({
  cniVersion: '1.0.0',
  name,
  plugins: types.map((type) => (typeof type === 'string' ? { type } : type)),
  ...more,
});

export function createHarness(options: HarnessOptions = {}): Harness {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'pod-network-'));
  const [config, state, bootIdFile] = ['net.d', 'state', 'boot_id'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  fs.mkdirSync(config);
  fs.writeFileSync(bootIdFile, 'boot-1\n');
  const exec = createFakeExec({ bridge, ...options.plugins }, options.fake);
  const log: LogLine[] = [];
  const namespaces = new Map<string, string>();
  const loopbacks: string[] = [];
  const running: RunningPodNetwork[] = [];
  const list = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder).toSorted() : []);
  const logAt = (level: string) => (facts: object, message: string) =>
    void log.push({ ...facts, level, message });
  return {
    ...{ root, config, state, exec, log, namespaces, loopbacks },
    trail: () =>
      exec.calls
        .filter(({ command }) => command !== 'VERSION' && command !== 'STATUS')
        .map(({ command, plugin, env }) => `${command} ${plugin} ${env['CNI_CONTAINERID']}`.trim()),
    calls: (command) => exec.calls.filter((call) => call.command === command),
    write: (file, content) =>
      fs.writeFileSync(
        path.join(config, file),
        typeof content === 'string' ? content : JSON.stringify(content),
      ),
    start: async (more = {}) => {
      const { system, ...rest } = more;
      const network = await createPodNetwork({
        configDirectory: config,
        pluginPath: [path.join(root, 'bin')],
        stateDirectory: state,
        durable: false,
        env: { PATH: '/bin', TRACEPARENT: 'of no span' },
        log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
        ...rest,
        system: {
          exec,
          bootIdFile,
          identifyNamespace: (file) => namespaces.get(file),
          bringLoopbackUp: (file) => void loopbacks.push(file),
          ...options.system,
          ...system,
        },
      });
      running.push(network);
      return network;
    },
    records: () => list(path.join(state, 'sandboxes')).map((name) => name.replace(/\.json$/, '')),
    cached: () => list(path.join(state, 'cache', 'results')),
    close: async () => {
      for (const network of running) await network.close();
      fs.rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A pod in a namespace that exists. */
export function makePod(
  harness: Pick<Harness, 'namespaces'>,
  id: string,
  more: Partial<PodAttachment> = {},
): PodAttachment {
  const netns = `/run/netns/${id}`;
  harness.namespaces.set(netns, `identity of ${id}`);
  return {
    namespace: 'shop',
    name: id,
    uid: `uid-${id}`,
    sandboxId: id,
    netns,
    annotations: {},
    portMappings: [],
    ...more,
  };
}
