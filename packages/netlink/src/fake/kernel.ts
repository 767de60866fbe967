import type { NetlinkConnection, NetlinkMessage } from '../connection.js';
import { Conversation } from '../conversation.js';
import type { RouteConnectionOptions } from '../socket.js';
import { dispatch, isDump } from './dispatch.js';
import { FakeErrno } from './errno.js';
import { destroy } from './link-life.js';
import { freshLink, register } from './links.js';
import { FakePort } from './port.js';
import { emptyNamespace, type FakeContext, type NamespaceState } from './state.js';

/** A namespace of the fake kernel, in the shape that the real ones have. */
export interface FakeNamespace {
  readonly path: string;
  readonly fd: number;
  readonly device: number;
  readonly inode: number;
  close(): void;
}

/** A request as the fake kernel saw it. */
export interface FakeRequest {
  readonly namespace: string;
  readonly type: number;
  readonly dump: boolean;
}

/** How a request shall fail: the errno's name and, if wanted, the text of the extended ack. */
export interface FakeFailure {
  readonly code: string;
  readonly message?: string;
}

/** Far above any descriptor that this process has, so that a mix-up with a real one fails at once. */
const FIRST_FD = 1_000_000;
const FIRST_INODE = 4_026_532_000;
const NSFS_DEVICE = 4;

/**
 * An rtnetlink kernel in memory: it understands the same bytes, keeps links, addresses, routes, rules, neighbours,
 * qdiscs and filters in several namespaces, and refuses what the real one refuses. It carries no packets.
 */
export class FakeKernel {
  /** The namespace that the process lives in. */
  readonly home: FakeNamespace;
  /** Every request so far, also those that failed. */
  readonly requests: FakeRequest[] = [];
  /** Asked before every request is carried out; what it returns is the failure. */
  intercept: ((request: FakeRequest, count: number) => FakeFailure | undefined) | undefined;
  readonly #namespaces = new Map<number, NamespaceState>();
  #lastMac = 0;
  #interruptions = 0;

  constructor() {
    this.home = this.createNamespace('/proc/self/ns/net');
  }

  /** A new namespace with a loopback link that is down. */
  createNamespace(path: string): FakeNamespace {
    const number = this.#namespaces.size;
    const state = emptyNamespace(path);
    const loopback = freshLink(state, 'lo', '00:00:00:00:00:00');
    Object.assign(loopback, { mtu: 65536 });
    register(loopback, 0);
    this.#namespaces.set(FIRST_FD + number, state);
    return {
      path,
      fd: FIRST_FD + number,
      device: NSFS_DEVICE,
      inode: FIRST_INODE + number,
      close: () => undefined,
    };
  }

  /** Ends a namespace: its links die, and with them their peers elsewhere. */
  deleteNamespace(namespace: Pick<FakeNamespace, 'fd'>): void {
    const state = this.#stateOf(namespace.fd);
    for (const link of [...state.links.values()]) if (link.kind !== undefined) destroy(link);
    state.links.clear();
  }

  /** As `openRouteConnection`. */
  open({ namespace = this.home }: RouteConnectionOptions = {}): NetlinkConnection {
    const state = this.#stateOf(namespace.fd);
    const execute = (message: NetlinkMessage) => this.#execute(state, message);
    return new Conversation(new FakePort(execute, () => this.#isInterrupted()));
  }

  /** Makes the `nth` request from now on (1 is the next) fail without effect. */
  failRequest(nth: number, failure: FakeFailure): void {
    const target = this.requests.length + nth;
    const previous = this.intercept;
    this.intercept = (request, count) => (count === target ? failure : previous?.(request, count));
  }

  /** Marks the next dumps as interrupted by a change of the tables. */
  interruptDumps(count: number): void {
    this.#interruptions = count;
  }

  #isInterrupted(): boolean {
    if (this.#interruptions === 0) return false;
    this.#interruptions--;
    return true;
  }

  #stateOf(fd: number): NamespaceState {
    const state = this.#namespaces.get(fd);
    if (state === undefined) throw new FakeErrno('EBADF');
    return state;
  }

  #execute(namespace: NamespaceState, message: NetlinkMessage): Buffer[] {
    const request = { namespace: namespace.name, type: message.type, dump: isDump(message) };
    this.requests.push(request);
    const failure = this.intercept?.(request, this.requests.length);
    if (failure !== undefined) throw new FakeErrno(failure.code, failure.message);
    return dispatch(this.#contextOf(namespace), message);
  }

  #contextOf(namespace: NamespaceState): FakeContext {
    return {
      namespace,
      namespaceOf: (fd) => this.#stateOf(fd),
      nextMac: () =>
        `02:fa:fe:${(++this.#lastMac)
          .toString(16)
          .padStart(6, '0')
          .replace(/(..)(..)/, '$1:$2:')}`,
    };
  }
}
