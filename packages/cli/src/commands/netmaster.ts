import { PodwireError } from '@podwire/errors';
import type { StoreSpec } from '@podwire/store';
import { type Command, Option } from 'commander';
import { ownVersion } from '../checkout.js';
import { announceMaster, readTenantWords } from '../cluster/tenant-master.js';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';

interface Flag {
  /** Names on the command line; the first is the one in messages. */
  readonly names: readonly [string, ...string[]];
  /** Behind `CONTIV_NETMASTER_`. */
  readonly variable: string;
  readonly help: string;
}

/** Of the original, by its names. */
const flags = {
  external: {
    names: ['external-address', 'listen-url'],
    variable: 'EXTERNAL_ADDRESS',
    help: 'HOST:PORT of the REST API, :PORT at all addresses (:9999)',
  },
  internal: {
    names: ['internal-address', 'control-url'],
    variable: 'INTERNAL_ADDRESS',
    help: 'HOST:PORT where other masters and agents reach it (an address of this machine)',
  },
  fwdmode: {
    names: ['fwdmode', 'forward-mode'],
    variable: 'FORWARD_MODE',
    help: 'forwarding: bridge or routing',
  },
  netmode: {
    names: ['netmode', 'network-mode'],
    variable: 'NET_MODE',
    help: 'vlan or vxlan; each network says its own',
  },
  mode: {
    names: ['mode', 'plugin-mode', 'cluster-mode'],
    variable: 'MODE',
    help: 'docker, kubernetes or swarm-mode',
  },
  infra: { names: ['infra', 'infra-type'], variable: 'INFRA', help: 'default: ACI is not there yet' },
  name: {
    names: ['name', 'plugin-name'],
    variable: 'PLUGIN_NAME',
    help: 'of the plugin for Docker; the agent has it, and the master does not use it',
  },
  etcd: {
    names: ['etcd-endpoints', 'etcd'],
    variable: 'ETCD_ENDPOINTS',
    help: 'URLs of etcd, by commas (http://127.0.0.1:2379)',
  },
  consul: {
    names: ['consul-endpoints', 'consul'],
    variable: 'CONSUL_ENDPOINTS',
    help: 'URLs of Consul, by commas',
  },
  log: { names: ['log-level'], variable: 'LOG_LEVEL', help: 'debug, info, warn or error (info)' },
} as const satisfies Readonly<Record<string, Flag>>;

type FlagName = keyof typeof flags;
export type Words = Readonly<Partial<Record<FlagName, string>>>;

/** `podwire netmaster`: until SIGTERM or SIGINT. */
export function define(command: Command, io: Io): void {
  command.description(
    'Runs a master of the model tenant in the foreground, with the flags of Contiv’s netmaster and their twins in the environment (`CONTIV_NETMASTER_…`). Several may run; one is elected leader, and the others hand requests on to it. `podwire controller --model tenant` is the same beside the work for nodes. Logs are JSON lines on standard output.',
  );
  for (const { names, variable, help } of Object.values(flags) as Flag[])
    for (const [index, name] of names.entries()) {
      const option = new Option(`--${name} <value>`, `${help} [CONTIV_NETMASTER_${variable}]`);
      command.addOption(index === 0 ? option : option.hideHelp());
    }
  command.action(() => run(command, io));
  addExamples(command, [
    ['podwire netmaster --etcd-endpoints http://10.0.0.1:2379 --netmode vxlan --fwdmode bridge', ''],
    ['podwire netmaster --external-address 127.0.0.1:9999 --internal-address 127.0.0.1:9999', ''],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const words = readWords(optionsOf(command), io.env);
  const store = await readStore(words);
  const fields = readTenantWords(
    { listen: words.external ?? ':9999', advertise: words.internal, fwdmode: words.fwdmode },
    { listen: '--external-address', advertise: '--internal-address', fwdmode: '--fwdmode' },
  );
  const [{ runTenantController }, { createLog }, { systemClock }, os] = await Promise.all([
    import('@podwire/controller'),
    import('@podwire/agent/log'),
    import('@podwire/platform'),
    import('node:os'),
  ]);
  const log = createLog({ level: words.log?.toLowerCase() ?? 'info', nodeName: os.hostname() });
  const shared = { ...fields, store, log, clock: io.cluster?.clock ?? systemClock, version: ownVersion() };
  const onListening = announceMaster(log, fields);
  await untilInterrupted(io, (signal) => runTenantController({ ...shared, onListening }, signal));
}

/** The command line counts more than the environment. @throws PodwireError CONFIG_INVALID */
export function readWords(options: Readonly<Record<string, unknown>>, env: Io['env']): Words {
  const found: Partial<Record<FlagName, string>> = {};
  for (const [key, { names, variable }] of Object.entries(flags) as [FlagName, Flag][]) {
    const given = names.map((name) => options[toCamel(name)]).find((value) => value !== undefined);
    const value = (given as string | undefined) ?? env[`CONTIV_NETMASTER_${variable}`];
    if (value !== undefined && value !== '') found[key] = value;
  }
  checkChoices(found);
  return found;
}

const choices = {
  netmode: ['vlan', 'vxlan'],
  mode: ['docker', 'kubernetes', 'swarm-mode', 'test'],
  infra: ['default'],
} as const;

function checkChoices(words: Words): void {
  for (const [name, allowed] of Object.entries(choices) as [keyof typeof choices, readonly string[]][]) {
    const value = words[name];
    if (value !== undefined && !allowed.includes(value))
      throw invalid(`--${flags[name].names[0]}: ${JSON.stringify(value)} is none of ${allowed.join(', ')}`);
  }
}

/** @throws PodwireError CONFIG_INVALID */
async function readStore({ etcd, consul }: Words): Promise<StoreSpec> {
  if (etcd !== undefined && consul !== undefined)
    throw invalid('--etcd-endpoints and --consul-endpoints: one store is enough');
  const { parseStoreUrl } = await import('@podwire/store');
  const [scheme, urls] =
    consul === undefined ? ['etcd', etcd ?? 'http://127.0.0.1:2379'] : ['consul', consul];
  const list = urls.split(',');
  const hosts = list.map((url) => /^(?:https?:\/\/)?(?<host>[^/]+)\/?$/.exec(url)?.groups?.['host'] ?? url);
  const isSecure = list.every((url) => url.startsWith('https://'));
  // One connection for all: what was asked for with TLS must not be asked without.
  if (!isSecure && urls.includes('https://'))
    throw invalid(`--${scheme}-endpoints: ${urls} has URLs with https:// beside others`);
  return parseStoreUrl(`${scheme}${isSecure ? 's' : ''}://${hosts.join(',')}`);
}

const toCamel = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const invalid = (message: string): PodwireError => new PodwireError('CONFIG_INVALID', message);
