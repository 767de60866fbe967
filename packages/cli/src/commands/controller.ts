import type { RunOvnOptions, RunTenantOptions } from '@podwire/controller';
import { PodwireError } from '@podwire/errors';
import type { ClusterAccess } from '@podwire/kubernetes-client';
import { compact } from '@podwire/platform';
import type { StoreSpec } from '@podwire/store';
import { type Command, Option } from 'commander';
import { ownVersion } from '../checkout.js';
import { readDuration, readList } from '../cluster/arguments.js';
import { addStore, requireCluster } from '../cluster/options.js';
import { serveMetrics } from '../cluster/serve-metrics.js';
import { announceMaster, readTenantWords } from '../cluster/tenant-master.js';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';

interface Options {
  readonly name?: string;
  readonly vanishAfter?: number;
  readonly grace?: number;
  readonly lease?: number;
  readonly metrics?: string;
  readonly northbound?: readonly string[];
  readonly joinCidr?: string;
  readonly podCidr?: string;
  readonly encapsulation?: 'geneve' | 'vxlan';
  readonly kubeconfig?: string;
  readonly inCluster?: boolean;
  readonly model?: 'tenant';
  readonly listen?: string;
  readonly advertise?: string;
}

/** `podwire controller`: until SIGTERM or SIGINT. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs a controller in the foreground: it detects nodes that are gone, releases their blocks and addresses after a day, and repairs what `podwire ipam check` finds. Several may run; one is elected leader. Agents run one each by themselves unless their configuration says `cluster.controller: false`. Logs are JSON lines on standard output.',
    )
    .option('--name <name>', 'name in the leader election (host name and process)')
    .option(
      '--vanish-after <duration>',
      'time without a lease after which a node is released; the same everywhere (24h)',
      readDuration,
    )
    .option('--grace <duration>', 'how long a problem must persist before it is repaired (15m)', readDuration)
    .option('--lease <duration>', 'time until another controller leads (15s)', readDuration)
    .option('--metrics <listen>', 'serve metrics for Prometheus at HOST:PORT')
    .option(
      '--northbound <endpoints>',
      'write the logical network of Kube-OVN’s objects into this northbound database of OVN: unix:PATH, tcp:HOST:PORT; of a cluster all of them, by commas',
      readList,
    )
    .option('--join-cidr <cidr>', 'addresses of the subnet join, where it is not there yet (100.64.0.0/16)')
    .option(
      '--pod-cidr <cidr>',
      'addresses of the subnet ovn-default, where it is not there yet (10.16.0.0/16)',
    )
    .addOption(
      new Option('--encapsulation <kind>', 'of the tunnels between nodes of OVN (geneve)').choices([
        'geneve',
        'vxlan',
      ]),
    )
    .option(
      '--kubeconfig <file>',
      'give the pods of this API server their addresses before a node asks for them, and write them into their annotations; with --northbound',
    )
    .addOption(
      new Option('--in-cluster', 'the same as a pod of that cluster, with its service account').conflicts([
        'kubeconfig',
      ]),
    )
    .addOption(
      new Option('--model <model>', 'also answer as the master of the model tenant').choices(['tenant']),
    )
    .option(
      '--listen <address>',
      'HOST:PORT of the REST API of --model tenant (127.0.0.1:9999 with an embedded store)',
    )
    .option('--advertise <address>', 'HOST:PORT where other masters and agents reach it, if not there')
    .action(() => run(command, io));
  addStore(command);
  addExamples(command, [
    ['podwire controller --store etcd://10.0.0.1:2379', ''],
    ['podwire controller --config /etc/podwire/agent.yaml --metrics 127.0.0.1:9402', ''],
    ['podwire controller --store embedded:/var/lib/podwire/store --vanish-after 1h', ''],
    ['podwire controller --config /etc/podwire/agent.yaml --northbound unix:/run/ovn/ovnnb_db.sock', ''],
    ['podwire controller --store etcd://10.0.0.1:2379 --northbound tcp:10.0.0.1:6641 --in-cluster', ''],
    ['podwire controller --store etcd://10.0.0.1:2379 --model tenant --listen 10.0.0.1:9999', ''],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as Options;
  const kubernetes = await findKubernetes(options, io);
  const tenant = findTenant(options);
  const place = await requireCluster(command, io);
  if (tenant !== undefined) requireReachable(options, place.spec);
  const [
    { runController, runOvnController, runTenantController, renderMetrics },
    { createLog },
    { systemClock },
    os,
  ] = await Promise.all([
    import('@podwire/controller'),
    import('@podwire/agent/log'),
    import('@podwire/platform'),
    import('node:os'),
  ]);
  const name = options.name ?? `${os.hostname()}/${process.pid}`;
  const log = createLog({ level: io.env['PODWIRE_LOG_LEVEL'] ?? 'info', nodeName: os.hostname() });
  const vanishAfter = options.vanishAfter ?? place.vanishAfter;
  const clock = io.cluster?.clock ?? systemClock;
  const shared = {
    store: place.spec,
    root: place.root,
    clock,
    log,
    name,
    ...compact({ ttl: options.lease }),
  };
  const ovn = listOvnWork(runOvnController, shared, options, kubernetes);
  const master = tenant === undefined ? [] : [leadTenant(runTenantController, { ...shared, ...tenant })];
  await untilInterrupted(io, async (signal) => {
    let stopMetrics: (() => Promise<void>) | undefined;
    const lead = (either: AbortSignal): Promise<void> =>
      runController(
        {
          ...shared,
          ...compact({ evictionTimeout: vanishAfter, grace: options.grace }),
          onStart: async (controller) => {
            log.info({ name, store: place.spec.kind, root: place.root }, 'the controller is a candidate');
            if (options.metrics === undefined) return;
            stopMetrics = await serveMetrics(options.metrics, () => renderMetrics(controller.metrics()));
          },
        },
        either,
      );
    try {
      await runTogether([lead, ...ovn, ...master], signal);
    } finally {
      await stopMetrics?.();
    }
  });
}

type Work = (signal: AbortSignal) => Promise<void>;
type Shared = Pick<RunOvnOptions, 'store' | 'root' | 'clock' | 'log' | 'name' | 'ttl'>;

/** Nothing without `--northbound`. */
function listOvnWork(
  run: (options: RunOvnOptions, signal: AbortSignal) => Promise<void>,
  shared: Shared,
  { northbound, joinCidr, podCidr, encapsulation }: Options,
  kubernetes: ClusterAccess | undefined,
): Work[] {
  if (northbound === undefined) return [];
  const defaults = compact({ joinCidr, defaultCidr: podCidr });
  const options = { ...shared, northbound, defaults, kubernetes, ...compact({ encapsulation }) };
  return [(signal) => run(options, signal)];
}

function leadTenant(
  run: (options: RunTenantOptions, signal: AbortSignal) => Promise<void>,
  options: Omit<RunTenantOptions, 'version'>,
): Work {
  const onListening = announceMaster(options.log, options);
  return (signal) => run({ ...options, version: ownVersion(), onListening }, signal);
}

/** @throws PodwireError CONFIG_INVALID */
async function findKubernetes(
  { northbound, kubeconfig, inCluster }: Options,
  { env }: Io,
): Promise<ClusterAccess | undefined> {
  if (kubeconfig === undefined && inCluster !== true) return undefined;
  const { loadInCluster, loadKubeconfig } = await import('@podwire/kubernetes-client');
  if (northbound === undefined) {
    const option = kubeconfig === undefined ? '--in-cluster' : '--kubeconfig';
    const message = `${option}: is for the network of --northbound, which is not given`;
    throw new PodwireError('CONFIG_INVALID', message, { action: 'Give --northbound as well.' });
  }
  return kubeconfig === undefined ? loadInCluster(env) : loadKubeconfig(kubeconfig);
}

/** @throws PodwireError CONFIG_INVALID */
function findTenant({ model, listen, advertise }: Options): ReturnType<typeof readTenantWords> | undefined {
  if (model === undefined) {
    const option = listen === undefined ? advertise && '--advertise' : '--listen';
    if (option === undefined) return undefined;
    throw new PodwireError(
      'CONFIG_INVALID',
      `${option}: is for the REST API of --model tenant, which is not given`,
    );
  }
  const words = { listen: listen ?? '127.0.0.1:9999', advertise };
  return readTenantWords(words, { listen: '--listen', advertise: '--advertise', fwdmode: '' });
}

/** Masters on other machines find the leader by the address in the lock. @throws PodwireError CONFIG_INVALID */
function requireReachable({ listen, advertise }: Options, { kind }: StoreSpec): void {
  if (listen !== undefined || advertise !== undefined || kind === 'embedded') return;
  throw new PodwireError(
    'CONFIG_INVALID',
    `--listen: must be given with --model tenant on a store of ${kind}: masters on other machines cannot reach 127.0.0.1`,
    { action: 'Give --listen HOST:PORT with an address of this machine, or --advertise as well.' },
  );
}

/** Until all have ended; the first that fails ends the others. */
async function runTogether(tasks: readonly Work[], signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const running = tasks.map((task) => task(either));
  try {
    await Promise.all(running);
  } finally {
    over.abort();
    await Promise.allSettled(running);
  }
}
