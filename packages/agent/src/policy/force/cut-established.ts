/** Where `policy.cutEstablished` is set: connections that a change of policy does not allow any more end within a second. */
import { tryParseAddress } from '@podwire/addresses';
import { type Clock, withDeadline, Workqueue } from '@podwire/platform';
import type { Connection } from '@podwire/policy';
import type { Log } from '../../log.js';
import type { ConntrackCuts, Decide, TrackedConnection } from '../contract.js';

export interface CutOptions {
  readonly cuts: ConntrackCuts;
  readonly decider: () => Decide;
  /** True for the address of a pod of this node: only connections of these pods are decided here. */
  readonly isLocal: (address: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

const queueKey = 'cut';
/** Milliseconds: changes that come together are looked at together. */
const delay = 50;
const deadline = 20_000;
const backoff = { first: 200, longest: 5_000 } as const;

const protocols: ReadonlySet<string | number> = new Set(['tcp', 'udp', 'sctp']);

export class EstablishedCutter {
  readonly #options: CutOptions;
  readonly #queue: Workqueue<typeof queueKey>;

  constructor(options: CutOptions) {
    this.#options = options;
    this.#queue = new Workqueue({
      reconcile: (_, signal) => this.#cut(signal),
      onError: (err) =>
        options.log.warn({ err }, 'connections that are not allowed any more could not be cut'),
      clock: options.clock,
      delay,
      backoff,
    });
  }

  /** Policy is another one. */
  note(): void {
    this.#queue.add(queueKey);
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  async #cut(signal: AbortSignal): Promise<void> {
    const { cuts, decider, log } = this.#options;
    const decide = decider();
    const count = await withDeadline(signal, deadline, (limit) =>
      cuts.deleteWhere((entry) => this.#isDenied(entry, decide), limit),
    );
    if (count > 0) log.info({ count }, 'cut connections that policy does not allow any more');
  }

  /** A connection that cannot be decided stays: ICMP has no connections that are worth a cut. */
  #isDenied(entry: TrackedConnection, decide: Decide): boolean {
    const { isLocal } = this.#options;
    const { source, destination, protocol, sourcePort, destinationPort } = entry;
    if (!isLocal(source) && !isLocal(destination)) return false;
    if (!protocols.has(protocol) || tryParseAddress(source)?.family !== tryParseAddress(destination)?.family)
      return false;
    const connection: Connection = {
      ...{ source, destination, sourcePort, destinationPort },
      protocol: protocol as 'tcp' | 'udp' | 'sctp',
    };
    return decide(connection).verdict === 'deny';
  }
}
