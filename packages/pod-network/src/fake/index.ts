/** A pod network in memory, for tests of runtimes: real in what it promises, without plugins, files or namespaces. */
import { createOperationLock, type OperationLock } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { onAbort } from '@podwire/platform';
import type {
  AttachedPod,
  NetworkCallOptions,
  NetworkChoice,
  NetworkStatus,
  PodAttachment,
  PodDetachment,
  PodNetwork,
} from '../contract.js';
import { podKey } from '../lifecycle/context.js';

export type FakeVerb = 'setUp' | 'tearDown' | 'collectGarbage';

export interface FakeNetworkCall {
  readonly verb: FakeVerb;
  /** Empty for collectGarbage. */
  readonly sandboxId: string;
  readonly pod?: PodAttachment | PodDetachment;
  readonly options: NetworkCallOptions;
  /** A tearDown that found something; the others had nothing to do. */
  readonly effective: boolean;
}

export interface FakePodNetworkOptions {
  /** Addresses of a pod; by default the lowest free one of 10.88.0.0/16. */
  readonly addresses?: (pod: PodAttachment) => readonly string[];
  /** Name of the network; default `fake`. */
  readonly network?: string;
}

export interface FakePodNetwork extends PodNetwork {
  /** Every call that began its work, in that order. */
  readonly calls: readonly FakeNetworkCall[];
  /** Sandboxes that are attached now. */
  readonly attached: ReadonlyMap<string, AttachedPod>;
  /** Makes the next calls fail, with the code that the contract has for them. */
  readonly fail: (verb: FakeVerb, message?: string, times?: number) => void;
  /** Holds calls back until the function that is returned is called; those that are held hear their signal. */
  readonly hold: (verb: FakeVerb) => () => void;
  /** With words the network is not ready, and setUp refuses; without it is. */
  readonly setProblem: (message?: string) => void;
  readonly podCidrs: () => readonly string[];
}

const failureCodes = {
  setUp: 'NETWORK_ATTACH_FAILED',
  tearDown: 'NETWORK_DETACH_FAILED',
  collectGarbage: 'NETWORK_DETACH_FAILED',
} as const;

interface State {
  readonly calls: FakeNetworkCall[];
  readonly attached: Map<string, AttachedPod>;
  readonly failures: { verb: FakeVerb; message: string }[];
  readonly holds: Map<FakeVerb, Promise<void>>;
  readonly gate: OperationLock;
  problem: string;
  podCidrs: readonly string[];
  closed: boolean;
}

export function createFakePodNetwork(options: FakePodNetworkOptions = {}): FakePodNetwork {
  const state: State = {
    calls: [],
    attached: new Map(),
    failures: [],
    holds: new Map(),
    gate: createOperationLock(),
    problem: '',
    podCidrs: [],
    closed: false,
  };
  return { ...operationsOf(state, options), ...controlsOf(state) };
}

function operationsOf(
  state: State,
  { network = 'fake', addresses = () => [lowestFree(state.attached)] }: FakePodNetworkOptions,
): PodNetwork {
  const { gate, attached } = state;
  const lockOf =
    (pod: PodDetachment) =>
    <T>(signal: AbortSignal | undefined, run: () => Promise<T>) =>
      gate.shared(podKey(pod), signal, run);
  return {
    setUp: (pod, options = {}) =>
      enter(state, 'setUp', options, lockOf(pod), async () => {
        const { sandboxId } = pod;
        if (state.problem !== '') throw new PodwireError('NETWORK_NOT_READY', state.problem);
        await begin(state, { verb: 'setUp', sandboxId, pod, options, effective: true });
        const made: AttachedPod = { addresses: addresses(pod), network };
        attached.set(sandboxId, made);
        return made;
      }),
    tearDown: (pod, options = {}) =>
      enter(state, 'tearDown', options, lockOf(pod), async () => {
        const { sandboxId } = pod;
        const effective = attached.has(sandboxId);
        await begin(state, { verb: 'tearDown', sandboxId, pod, options, effective });
        attached.delete(sandboxId);
      }),
    collectGarbage: (live, options = {}) =>
      enter(
        state,
        'collectGarbage',
        options,
        (signal, run) => gate.exclusive(signal, run),
        async () => {
          await begin(state, { verb: 'collectGarbage', sandboxId: '', options, effective: true });
          for (const id of [...attached.keys()]) if (!live.includes(id)) attached.delete(id);
        },
      ),
    addresses: (sandboxId) => Promise.resolve(attached.get(sandboxId)?.addresses),
    status: () => statusOf(state),
    explain: () => Promise.resolve(explain(state, network)),
    setPodCidrs: (cidrs) => {
      if (state.podCidrs.length === 0) state.podCidrs = [...cidrs];
    },
    close: async () => {
      state.closed = true;
      await gate.exclusive(undefined, () => Promise.resolve());
    },
  };
}

function explain(state: State, name: string): NetworkChoice {
  const network = { name, file: '/fake/net.d/fake.conflist', plugins: ['fake'], kept: false };
  return {
    directory: '/fake/net.d',
    ...(state.problem === '' ? { network } : {}),
    files: [],
    lookedAt: 0,
    status: statusOf(state),
  };
}

function controlsOf(
  state: State,
): Pick<FakePodNetwork, 'calls' | 'attached' | 'fail' | 'hold' | 'setProblem' | 'podCidrs'> {
  return {
    calls: state.calls,
    attached: state.attached,
    fail: (verb, message = `fake ${verb} failure`, times = 1) => {
      for (let count = 0; count < times; count++) state.failures.push({ verb, message });
    },
    hold: (verb) => {
      let release: () => void = () => undefined;
      state.holds.set(verb, new Promise((resolve) => (release = resolve)));
      return () => {
        state.holds.delete(verb);
        release();
      };
    },
    setProblem: (message = '') => void (state.problem = message),
    podCidrs: () => state.podCidrs,
  };
}

/** Takes the lock; an error has the code of the contract. */
async function enter<T>(
  state: State,
  verb: FakeVerb,
  { signal }: NetworkCallOptions,
  lock: (signal: AbortSignal | undefined, run: () => Promise<T>) => Promise<T>,
  work: () => Promise<T>,
): Promise<T> {
  if (state.closed) throw new PodwireError('NETWORK_NOT_READY', 'the pod network is closed');
  try {
    return await lock(signal, work);
  } catch (error) {
    if (error instanceof PodwireError) throw error;
    throw new PodwireError(failureCodes[verb], (error as Error).message, { cause: error });
  }
}

/** Notes the call, is held where that is asked for, and fails where that is asked for: before anything has changed. */
async function begin({ calls, holds, failures }: State, call: FakeNetworkCall): Promise<void> {
  calls.push(call);
  await Promise.race([holds.get(call.verb) ?? Promise.resolve(), givenUp(call.options.signal)]);
  const index = failures.findIndex(({ verb }) => verb === call.verb);
  if (index < 0) return;
  const [failure] = failures.splice(index, 1);
  throw new PodwireError(failureCodes[call.verb], failure?.message ?? '');
}

function givenUp(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    onAbort(signal, (reason) => reject(new Error(`the operation was given up: ${String(reason)}`)));
  });
}

function statusOf({ problem }: State): NetworkStatus {
  return { ready: problem === '', reason: problem === '' ? '' : 'NetworkPluginNotReady', message: problem };
}

function lowestFree(attached: ReadonlyMap<string, AttachedPod>): string {
  const taken = new Set([...attached.values()].flatMap(({ addresses }) => addresses));
  for (let number = 2; ; number++) {
    const address = `10.88.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
}
