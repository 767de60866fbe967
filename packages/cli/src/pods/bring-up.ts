/** Starts a pod agent and, where pods get their network from Podwire, a node agent, unless they run. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { endProcesses } from '@podwire/linux';
import { compact, replaceFileSync } from '@podwire/platform';
import { openAgentApi } from '../api/locate.js';
import type { StatusView } from '../api/shapes.js';
import { checkoutFile } from '../checkout.js';
import { renderConflist } from '../commands/install-conflist.js';
import type { Progress } from '../render/progress.js';
import { directoriesOf, openPodApi, type Places } from './locate.js';
import { findAgentConfig, writeAgentConfig } from './own-config.js';
import { type Inside, startDaemon } from './processes.js';
import { findAbsent, lockStart, noteGround, noteStarted, readStarted } from './started.js';

export interface BringUp {
  readonly directory: string;
  readonly places: Places;
  /** `embedded`, `docker`, `containerd`, or the path of a CRI socket. */
  readonly runtime: string;
  /** Another CNI network than Podwire's own. */
  readonly network?: { readonly configDirectory: string; readonly pluginDirectories: readonly string[] };
  /** Whose CNI configuration leads to Podwire anyway, though it is not one of ours. */
  readonly knowsPodwire?: boolean;
  /** Where both agents are started; here when absent. */
  readonly inside?: Inside;
  /** Further words for `podwire podlet`. */
  readonly more: readonly string[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Runtimes to which Podwire gives the network; any other has a CNI configuration of its own. */
const withOwnNetwork = ['embedded', 'docker'];

/** @throws PodwireError AGENT_NOT_READY, PODLET_UNREACHABLE with the end of the log of what did not start */
export async function bringUp(call: BringUp): Promise<void> {
  const { places, signal } = call;
  if (await podAgentAnswers(places)) return;
  const absent = findAbsent(directoriesOf(call.directory));
  const unlock = await lockStart(places, signal);
  try {
    if (await podAgentAnswers(places)) return;
    noteGround(places, { absent });
    await startAgents(call);
  } finally {
    unlock();
  }
}

async function startAgents(call: BringUp): Promise<void> {
  const { places, progress } = call;
  const needsAgent =
    call.network === undefined && (withOwnNetwork.includes(call.runtime) || call.knowsPodwire === true);
  const startsAgent = needsAgent && !(await agentIsReady(places));
  if (startsAgent) await progress.step('node agent started', () => startAgent(call));
  const name = path.basename(call.runtime, '.sock');
  try {
    await progress.step(`pod agent started (runtime ${name})`, () => startPodAgent(call));
  } catch (error) {
    // `podwire down` asks the pod agent, and could not take it down.
    const { agent } = readStarted(places);
    if (startsAgent && agent !== undefined) await endProcesses([agent]);
    throw error;
  }
}

const podwire = (): string => checkoutFile('bin/podwire');

async function startAgent({ places, inside, signal }: BringUp): Promise<void> {
  writeAgentConfig(places);
  const file = findAgentConfig(places);
  const config = file === undefined ? [] : ['--config', file];
  await startDaemon(
    {
      name: 'node agent',
      argv: [podwire(), 'agent', ...config],
      logFile: places.agentLog,
      failure: 'AGENT_NOT_READY',
      answers: () => agentIsReady(places),
      onStart: (pid) => noteStarted(places, 'agent', pid),
      ...compact({ inside }),
    },
    signal,
  );
}

async function startPodAgent(call: BringUp): Promise<void> {
  const { directory, places, runtime, more, inside, signal } = call;
  const argv = [
    podwire(),
    'podlet',
    '--directory',
    directory,
    '--runtime',
    runtime,
    ...networkWords(call),
    ...more,
  ];
  await startDaemon(
    {
      name: 'pod agent',
      argv,
      logFile: places.podletLog,
      failure: 'PODLET_UNREACHABLE',
      answers: () => podAgentAnswers(places),
      onStart: (pid) => noteStarted(places, 'podlet', pid),
      ...compact({ inside }),
    },
    signal,
  );
}

function networkWords({ places, runtime, network }: BringUp): string[] {
  if (!withOwnNetwork.includes(runtime)) return [];
  if (network === undefined) writeOwnNetwork(places);
  const directory = network?.configDirectory ?? places.networkConfig;
  const plugins = network?.pluginDirectories ?? [checkoutFile('bin')];
  return ['--cni-conf-dir', directory, ...plugins.flatMap((each) => ['--cni-bin-dir', each])];
}

/** The CNI network that leads to the node agent of the directory. */
export function writeOwnNetwork({ networkConfig, agentSocket }: Places): void {
  fs.mkdirSync(networkConfig, { recursive: true, mode: 0o755 });
  const conflist = renderConflist({ name: 'podwire', socket: agentSocket });
  replaceFileSync(path.join(networkConfig, '10-podwire.conflist'), conflist);
}

async function agentIsReady({ agentApi }: Places): Promise<boolean> {
  return answering(
    async () => (await openAgentApi({ socket: agentApi }).get<StatusView>('/v1/status')).ready,
  );
}

export async function podAgentAnswers({ podSocket }: Places): Promise<boolean> {
  return answering(async () => {
    await openPodApi(podSocket).get('/v1/status');
    return true;
  });
}

async function answering(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    const silent = ['AGENT_UNREACHABLE', 'PODLET_UNREACHABLE'];
    if (error instanceof PodwireError && silent.includes(error.code)) return false;
    throw error;
  }
}
