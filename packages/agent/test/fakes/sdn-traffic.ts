/** Traffic between all pods of a test, without end, and the pairs that must not be among those that it arrives for. */
import assert from 'node:assert/strict';
import {
  type Arrivals,
  type Beat,
  eventually,
  startBeat,
  type TestNamespace,
  watchArrivals,
} from '@podwire/testkit';
import type { SdnPod } from './sdn-pods.js';

/** True where packets may pass from one project to another. */
export type MayPass = (from: string, to: string) => boolean;

export interface Sender extends SdnPod {
  readonly project: string;
}

/** Packets that have arrived, by `FROM to TO` with the names of pods. */
type Counts = ReadonlyMap<string, number>;

/** Each pair gets so many packets more before it counts as open. */
const ENOUGH = 3;
/** Of packets with the address of another pod. */
const FORGED_PORT = 10;

interface Link {
  readonly address: string;
  readonly stats64: { readonly tx: { readonly packets: number } };
}

const readLink = async (namespace: TestNamespace): Promise<Link> =>
  (JSON.parse(await namespace.run(['ip', '-json', '-s', 'link', 'show', 'eth0'])) as Link[])[0]!;
const macOf = async ({ namespace }: SdnPod): Promise<string> => (await readLink(namespace)).address;
const countSent = async (namespace: TestNamespace): Promise<number> =>
  (await readLink(namespace)).stats64.tx.packets;

/** Every pod sends to every other one from the beginning to the end. */
export class Traffic {
  readonly #pods: ReadonlyMap<string, Sender>;
  readonly #arrivals: ReadonlyMap<string, Arrivals>;
  readonly #beats: Beat[] = [];

  private constructor(pods: ReadonlyMap<string, Sender>, arrivals: ReadonlyMap<string, Arrivals>) {
    this.#pods = pods;
    this.#arrivals = arrivals;
  }

  /** @param pods by their names */
  static async start(pods: Readonly<Record<string, Sender>>): Promise<Traffic> {
    const entries = Object.entries(pods);
    const arrivals = entries.map(
      async ([name, { namespace }]) => [name, await watchArrivals(namespace)] as const,
    );
    const traffic = new Traffic(new Map(entries), new Map(await Promise.all(arrivals)));
    for (const [name, { namespace, address: from }] of entries) {
      const to = entries.filter(([other]) => other !== name).map(([, { address }]) => address);
      traffic.#beats.push(await startBeat(namespace, { from, to }));
    }
    return traffic;
  }

  /** A pod that is none of these sends to one of them with the addresses of another one, IP and MAC. */
  async forge({ namespace }: SdnPod, as: string, to: string): Promise<void> {
    const [{ address: from }, receiver] = [this.#pods.get(as)!, this.#pods.get(to)!];
    const [mac, receiverMac] = await Promise.all([this.#pods.get(as)!, receiver].map(macOf));
    await namespace.ip(
      ...['link set lo up', `addr add ${from}/32 dev lo`, `link set eth0 address ${mac}`],
      // Its questions of ARP are dropped, and packets are to leave.
      `neigh replace ${receiver.address} lladdr ${receiverMac} dev eth0 nud permanent`,
    );
    const before = await countSent(namespace);
    this.#beats.push(await startBeat(namespace, { from, to: [receiver.address], port: FORGED_PORT }));
    await eventually('forged packets leave', async () => (await countSent(namespace)) >= before + ENOUGH);
  }

  /** Resolves when all pairs that may pass have got packets since the call. */
  async untilOpen(mayPass: MayPass): Promise<void> {
    const before = await this.#count();
    await eventually(
      'packets arrive for all pairs that may pass',
      async () => {
        const now = await this.#count();
        const closed = this.#pairs(mayPass).filter(
          (pair) => (now.get(pair) ?? 0) < (before.get(pair) ?? 0) + ENOUGH,
        );
        return closed.length === 0 || closed.join(', ');
      },
      { interval: 200 },
    );
  }

  /** Resolves when no packet of a pair that may not pass has come while every other pair got some. */
  async untilClosed(mayPass: MayPass): Promise<void> {
    await eventually('no packet arrives that may not', async () => {
      const before = await this.#count();
      await this.untilOpen(mayPass);
      const passed = this.#passedSince(before, await this.#count(), mayPass);
      return passed.length === 0 || passed.join(', ');
    });
  }

  /**
   * Does something; not one packet passes meanwhile that may not.
   * @param open pairs that are open at the end
   */
  async during(mayPass: MayPass, work: () => Promise<void>, open = mayPass): Promise<void> {
    const before = await this.#count();
    await work();
    await this.untilOpen(open);
    assert.deepEqual(this.#passedSince(before, await this.#count(), mayPass), []);
    assert.deepEqual(await this.#countForged(), []);
  }

  async stop(): Promise<void> {
    for (const beat of this.#beats) await beat.stop();
  }

  #pairs(mayPass: MayPass): string[] {
    const all = [...this.#pods];
    return all.flatMap(([from, sender]) =>
      all
        .filter(([to, receiver]) => to !== from && mayPass(sender.project, receiver.project))
        .map(([to]) => `${from} to ${to}`),
    );
  }

  #passedSince(before: Counts, now: Counts, mayPass: MayPass): string[] {
    const open = new Set(this.#pairs(mayPass));
    return [...now.keys()].filter((pair) => !open.has(pair) && now.get(pair) !== before.get(pair));
  }

  async #count(): Promise<Counts> {
    const counts = [...this.#arrivals].map(async ([to, arrivals]) =>
      [...(await arrivals.count())].map(
        ([address, count]) => [`${this.#nameOf(address)} to ${to}`, count] as const,
      ),
    );
    return new Map((await Promise.all(counts)).flat());
  }

  async #countForged(): Promise<string[]> {
    const counts = [...this.#arrivals].map(async ([to, arrivals]) =>
      [...(await arrivals.count(FORGED_PORT)).keys()].map((from) => `forged ${this.#nameOf(from)} to ${to}`),
    );
    return (await Promise.all(counts)).flat();
  }

  #nameOf(address: string): string {
    return [...this.#pods].find(([, pod]) => pod.address === address)?.[0] ?? address;
  }
}
