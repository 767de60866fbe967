import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { compact } from '@podwire/platform';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { checkoutFile } from '../checkout.js';
import { withInterrupt } from '../interrupt.js';

/**
 * The benchmark, as far as this command uses it. It lives beside the packages and needs what tests need, so it is no
 * dependency of this one: it is looked for when it is wanted.
 */
interface Benchmark {
  readonly defaultOptions: Readonly<Record<string, unknown>>;
  runBench(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<BenchResult>;
  formatReport(result: BenchResult): string;
  readonly defaultPodPathOptions: Readonly<Record<string, unknown>>;
  runPodPath(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<object>;
  formatPodPath(result: object): string;
  readonly defaultClusterOptions: Readonly<Record<string, unknown>>;
  runCluster(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<object>;
  formatCluster(result: object): string;
  readonly defaultPolicyOptions: Readonly<Record<string, unknown>>;
  runPolicy(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<object>;
  formatPolicy(result: object): string;
  readonly defaultSdnOptions: Readonly<Record<string, unknown>>;
  runSdn(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<object>;
  formatSdn(result: object): string;
  readonly defaultOvnOptions: Readonly<Record<string, unknown>>;
  runOvn(options: Readonly<Record<string, unknown>>, call: BenchCall): Promise<object>;
  formatOvn(result: object): string;
}

interface BenchCall {
  readonly signal: AbortSignal;
  readonly progress: (progress: { phase: string; done: number; total: number }) => void;
}

interface BenchResult {
  readonly startedAt: string;
}

interface Choices {
  readonly pods?: number;
  readonly workers?: number;
  readonly rounds?: number;
  readonly endpoints?: number;
  readonly idleSeconds?: number;
  readonly peerBinDir?: string;
  readonly podwire: boolean;
  readonly part: Part;
  readonly save?: string;
}

type Part = 'cni' | 'pods' | 'cluster' | 'policy' | 'sdn' | 'ovn' | 'all';

const checkout = checkoutFile('.');

export function define(command: Command, io: Io): void {
  command
    .description(
      'Measures ADD and DEL of Podwire and of other CNI plugins in one run, each on a private host of its own, and the agent with many endpoints; then the way from a manifest to a pod that takes connections, with the embedded runtime and with containerd, and many pods at once beside the kubelet where that has been built (`npm run test:kubernetes`); then many nodes: ADD in a cluster with etcd and without, addresses, claims, thousands of peers, TCP between nodes, and a simulation; then what policy costs, and what the models sdn and ovn cost. Needs root, a checkout, and Debian’s containernetworking-plugins, containerd, etcd-server, etcd-client, openvswitch-switch, ovn-central and ovn-host. Takes twenty minutes.',
    )
    .addOption(
      new Option(
        '--part <part>',
        'cni: plugins; pods: from a manifest to a pod that takes connections; cluster: many nodes; policy: what policy costs; sdn: OpenShift SDN on Open vSwitch; ovn: Kube-OVN',
      )
        .choices(['cni', 'pods', 'cluster', 'policy', 'sdn', 'ovn', 'all'])
        .default('all'),
    )
    .option('--pods <count>', 'pods of each plugin', readCount)
    .option('--workers <count>', 'concurrent calls in the second part', readCount)
    .option('--rounds <count>', 'repetitions', readCount)
    .option('--endpoints <count>', 'endpoints for measuring the agent; 0: none', readCount)
    .option('--idle-seconds <count>', 'how long the idle agent is measured', readCount)
    .option('--peer-bin-dir <directory>', "where the other plugins are (default: Debian's /usr/lib/cni)")
    .option('--no-podwire', 'only the others')
    .option('--save <file>', 'file for the JSON result (default: bench/results/TIME.json)')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire bench', 'the whole of it'],
    ['podwire bench --pods 20 --endpoints 0', 'a first look'],
    ['podwire bench --part cluster', 'many nodes'],
    ['podwire bench --part policy', 'ADD, changes and joins with policies'],
    ['podwire bench --part sdn', 'the model sdn, and Open vSwitch'],
    ['podwire bench --part ovn', 'the model ovn, beside OVN alone'],
    ['podwire bench -o json > result.json', ''],
  ]);
}

function readCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text)) return count;
  throw new InvalidArgumentError('It must be a whole number.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { podwire, save, part, ...chosen } = optionsOf(command) as unknown as Choices;
  const benchmark = await loadBenchmark();
  const progress = startProgress(io);
  const startedAt = new Date(io.now()).toISOString();
  const parts = await withInterrupt(async (signal) => {
    const call: BenchCall = {
      signal,
      progress: ({ phase, done, total }) => progress.show(phase, `${done}/${total}`),
    };
    return runParts(benchmark, { podwire, part, chosen }, call);
  }).finally(() => progress.end());
  const { pods, cluster, policy, sdn, ovn } = parts;
  const result = {
    startedAt,
    ...parts.cni,
    ...compact({ podPath: pods, cluster, policy, sdn, ovn }),
  };
  const file = save ?? path.join(checkout, 'bench/results', `${startedAt.replaceAll(':', '')}.json`);
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(result)}\n`);
  if (outputOf(command) === 'json') return writeJson(io, result);
  const reports = [
    ...(parts.cni === undefined ? [] : [benchmark.formatReport(parts.cni)]),
    ...(parts.pods === undefined ? [] : [benchmark.formatPodPath(parts.pods)]),
    ...(parts.cluster === undefined ? [] : [benchmark.formatCluster(parts.cluster)]),
    ...(parts.policy === undefined ? [] : [benchmark.formatPolicy(parts.policy)]),
    ...(parts.sdn === undefined ? [] : [benchmark.formatSdn(parts.sdn)]),
    ...(parts.ovn === undefined ? [] : [benchmark.formatOvn(parts.ovn)]),
  ];
  return writeLines(io, [reports.join('\n\n'), '', file]);
}

type Sizes = Omit<Choices, 'podwire' | 'save' | 'part'>;

interface Parts {
  readonly cni?: BenchResult;
  readonly pods?: object;
  readonly cluster?: object;
  readonly policy?: object;
  readonly sdn?: object;
  readonly ovn?: object;
}

async function runParts(
  benchmark: Benchmark,
  { podwire, part, chosen }: Pick<Choices, 'podwire' | 'part'> & { readonly chosen: Sizes },
  call: BenchCall,
): Promise<Parts> {
  const wants = (one: Part): boolean => part === one || part === 'all';
  const programs = podwire ? { podwire: ownPrograms() } : {};
  const options = { ...benchmark.defaultOptions, ...pickChoices(chosen), ...programs };
  const cni = wants('cni') ? { cni: await benchmark.runBench(options, call) } : {};
  // The others measure nothing but Podwire.
  if (!podwire) return cni;
  const podOptions = { ...benchmark.defaultPodPathOptions, ...podPathPrograms() };
  const pods = wants('pods') ? { pods: await benchmark.runPodPath(podOptions, call) } : {};
  const clusterOptions = { ...benchmark.defaultClusterOptions, ...ownPrograms() };
  const cluster = wants('cluster') ? { cluster: await benchmark.runCluster(clusterOptions, call) } : {};
  const policyOptions = { ...benchmark.defaultPolicyOptions, ...ownPrograms() };
  const policy = wants('policy') ? { policy: await benchmark.runPolicy(policyOptions, call) } : {};
  const sdnOptions = { ...benchmark.defaultSdnOptions, ...ownPrograms(), ...pickPeers(chosen) };
  const sdn = wants('sdn') ? { sdn: await benchmark.runSdn(sdnOptions, call) } : {};
  const ovnOptions = { ...benchmark.defaultOvnOptions, ...ownPrograms() };
  const ovn = wants('ovn') ? { ovn: await benchmark.runOvn(ovnOptions, call) } : {};
  return { ...cni, ...pods, ...cluster, ...policy, ...sdn, ...ovn };
}

function pickChoices(chosen: Sizes): Record<string, unknown> {
  const { pods, workers, rounds, endpoints, idleSeconds, peerBinDir } = chosen;
  const all = { pods, workers, rounds, endpoints, idleSeconds, peerBinDir };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const pickPeers = ({ peerBinDir }: Sizes): Record<string, unknown> => compact({ peerBinDir });

function ownPrograms(): { binDir: string; agent: string[] } {
  const binDir = path.join(checkout, 'bin');
  // Started as people start it: its first line says how Node has to be run.
  return { binDir, agent: [path.join(binDir, 'podwire'), 'agent'] };
}

function podPathPrograms(): Record<string, unknown> {
  const podwire = [path.join(checkout, 'bin/podwire')];
  const kubelet = path.join(os.homedir(), '.cache/podwire/kubernetes-1.20.2/kubelet');
  return { podlet: [...podwire, 'podlet'], agent: [...podwire, 'agent'], kubelet: fs.existsSync(kubelet) };
}

async function loadBenchmark(): Promise<Benchmark> {
  const file = path.join(checkout, 'packages/bench/dist/src/index.js');
  if (!fs.existsSync(file)) {
    throw new PodwireError(
      'PREREQUISITE_MISSING',
      `${file} is not there: the benchmark is part of a checkout; "npm run bench" builds and runs it`,
    );
  }
  return (await import(file)) as Benchmark;
}
