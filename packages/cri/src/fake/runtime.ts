/** An in-memory runtime for tests of its clients. */
import { CriError } from '../error.js';
import { CgroupDriver, type ContainerConfig, type PodSandboxConfig } from '../messages.js';
import type { MethodName } from '../methods.js';
import type { CallOptions, CriRuntime, StreamingCalls } from '../services.js';
import { type AnswersOf, withRules } from './calls.js';
import { systemClock } from '@podwire/platform';
import { containerCalls, endContainer } from './containers.js';
import type { FakeClock, FakeContext } from './context.js';
import { EventBroadcast } from '../events.js';
import { createFaults, type Fault } from './faults.js';
import { addImage, imageCalls } from './images.js';
import { type FakeExecResult, type FakeProgram, readProgram } from './programs.js';
import { sandboxCalls, stopSandbox } from './sandboxes.js';
import { createState, getContainer, getSandbox } from './state.js';
import { statsCalls } from './stats.js';

export interface FakeOptions {
  readonly clock?: FakeClock;
  /** Images that are there from the start. */
  readonly images?: readonly string[];
  /** True if a pull finds the image; by default it finds all. */
  readonly registry?: (name: string) => boolean;
  /** Addresses of a new sandbox that is not on the host's network; by default one of 10.88.0.0/16 each. */
  readonly addressesOf?: (config: PodSandboxConfig) => readonly string[];
  /** The behaviour of a container's process; by default see readProgram. */
  readonly programOf?: (config: ContainerConfig) => FakeProgram;
  /** The result of ExecSync; by default exit code 0 and no output. */
  readonly exec?: FakeContext['exec'];
  /** Milliseconds before a call is acted on; none by default. */
  readonly latency?: (method: MethodName, request: unknown) => number;
  /** Sees every call as it comes in. */
  readonly onCall?: (method: MethodName, request: unknown, options: CallOptions) => void;
  /** Without it Exec, Attach and PortForward are UNIMPLEMENTED. */
  readonly streaming?: StreamingCalls;
  /** Without events GetContainerEvents is UNIMPLEMENTED, as of containerd 1.6. */
  readonly hasEvents?: boolean;
}

export interface FakeConditions {
  readonly runtimeReady?: boolean;
  readonly networkReady?: boolean;
}

export interface FakeRuntime extends CriRuntime {
  /** How often each method was called. */
  readonly counts: Readonly<Record<MethodName, number>>;
  /** Makes calls go wrong. @returns what takes it back */
  fail(method: MethodName, fault: Fault): () => void;
  addImage(name: string): void;
  /** Ends a container's process as if by itself. */
  crash(containerId: string, exitCode?: number, reason?: string): void;
  /** The sandbox and with it all its containers die. */
  crashSandbox(sandboxId: string): void;
  /** Sets the conditions that Status reports from now on. */
  setConditions(conditions: FakeConditions): void;
}

export function createFakeRuntime(options: FakeOptions = {}): FakeRuntime {
  const context = createContext(options);
  const { state } = context;
  const faults = createFaults();
  const { latency = () => 0, onCall = () => {} } = options;
  let conditions: FakeConditions = {};
  for (const image of options.images ?? []) addImage(state, image);
  const calls = withRules(
    {
      ...generalCalls(() => conditions),
      ...sandboxCalls(context),
      ...containerCalls(context),
      ...statsCalls(context),
      ...imageCalls(context, options.registry ?? (() => true)),
      ...(options.streaming ?? noStreaming),
    },
    { faults, clock: context.clock, latency, onCall },
  );
  return {
    ...calls,
    getContainerEvents: (request, callOptions = {}) => {
      onCall('getContainerEvents', request, callOptions);
      faults.next('getContainerEvents');
      const gaveUp = new CriError('CANCELLED', 'GetContainerEvents: the caller has given up');
      return options.hasEvents === false ? noEvents() : context.events.listen(callOptions.signal, gaveUp);
    },
    counts: faults.counts,
    fail: faults.add,
    addImage: (name) => void addImage(state, name),
    crash: (id, exitCode = 1, reason) => endContainer(context, getContainer(state, id), exitCode, reason),
    crashSandbox: (id) => stopSandbox(context, getSandbox(state, id)),
    setConditions: (next) => {
      conditions = { ...conditions, ...next };
    },
  };
}

function createContext(options: FakeOptions): FakeContext {
  return {
    state: createState(),
    clock: options.clock ?? systemClock,
    events: new EventBroadcast(),
    programOf: options.programOf ?? readProgram,
    addressesOf: options.addressesOf ?? countAddresses(),
    exec: options.exec ?? ((): FakeExecResult => ({})),
  };
}

function countAddresses(): () => readonly string[] {
  let last = 0;
  return () => {
    last += 1;
    return [`10.88.${(last >> 8) & 255}.${last & 255}`];
  };
}

function generalCalls(
  conditions: () => FakeConditions,
): AnswersOf<'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig'> {
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName: 'fake',
      runtimeVersion: '1.0.0',
      runtimeApiVersion: 'v1',
    }),
    status: () => {
      const { runtimeReady = true, networkReady = true } = conditions();
      return {
        status: {
          conditions: [
            condition('RuntimeReady', runtimeReady),
            condition('NetworkReady', networkReady, 'NetworkPluginNotReady'),
          ],
        },
        info: {},
        runtimeHandlers: [],
      };
    },
    runtimeConfig: () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),
    updateRuntimeConfig: () => ({}),
  };
}

const condition = (type: string, status: boolean, reason = 'RuntimeNotReady') => ({
  type,
  status,
  reason: status ? '' : reason,
  message: status ? '' : 'the test has said so',
});

const unimplemented = (): Promise<never> =>
  Promise.reject(new CriError('UNIMPLEMENTED', 'the fake streams nothing'));

const noStreaming: StreamingCalls = {
  exec: unimplemented,
  attach: unimplemented,
  portForward: unimplemented,
};

const noEvents = (): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject(new CriError('UNIMPLEMENTED', 'the fake was told to have no events')),
  }),
});
