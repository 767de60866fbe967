/**
 * Real packets between all pods, counted where they arrive. All sockets are this process's: one stays in the namespace where it
 * was made. Every round has source ports of its own, so that no connection of an earlier one lets packets through.
 */
import dgram from 'node:dgram';
import net from 'node:net';
import { addressToBytes, type Family, parseAddress } from '@podwire/addresses';
import { bindAddress, openDatagramSocket, openStreamSocket } from '@podwire/linux';
import type { Testbed, TestbedNamespace, TestbedPod } from '@podwire/testbed';

export const probedPorts = [80, 81] as const;
export const probedProtocols = ['tcp', 'udp'] as const;
export const probedFamilies = [4, 6] as const;

export interface PodProbe {
  /** `namespace/name` */
  readonly from: string;
  readonly to: string;
  readonly protocol: (typeof probedProtocols)[number];
  readonly port: number;
  readonly family: Family;
  readonly sourcePort: number;
}

export interface Prober {
  /**
   * Sends every probe once, and returns those that arrived. Waits until all that `isExpected` have arrived, at most
   * `patience` milliseconds; then until later packets of the nodes to their own pods have, which came through the same queues
   * behind the forbidden ones.
   */
  ask(
    probes: readonly PodProbe[],
    isExpected: (probe: PodProbe) => boolean,
    patience: number,
  ): Promise<Set<PodProbe>>;
  /** Forbidden probes that arrived after their round had been compared. */
  readonly late: readonly string[];
  close(): Promise<void>;
}

export const describeProbe = ({ from, to, protocol, port, family, sourcePort }: PodProbe): string =>
  `${from} → ${to} IPv${family} ${port}/${protocol} from ${sourcePort}`;

/** All pairs of different pods, both ports and protocols, in both families. @param round from 0 */
export function listProbes(pods: readonly TestbedPod[], round: number): PodProbe[] {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`);
  return probedFamilies.flatMap((family) =>
    names.flatMap((from) =>
      names.flatMap((to, at) =>
        from === to
          ? []
          : probedPorts.flatMap((port, index) =>
              probedProtocols.map((protocol) => {
                const sourcePort = firstPort + ((round * portsPerRound + at * 2 + index) % portRange);
                return { from, to, protocol, port, family, sourcePort };
              }),
            ),
      ),
    ),
  );
}

const firstPort = 10_000;
const portsPerRound = 32;
const portRange = 20_000;
/** Where the nodes' own packets go; policy never closes it to them. */
const controlPort = 9;

const addressOf = (pod: TestbedPod, family: Family): string =>
  pod.addresses.find((each) => each.includes(':') === (family === 6)) ?? '';

class Arrivals {
  readonly #seen = new Set<string>();
  #wake: () => void = () => undefined;

  note(key: string): void {
    this.#seen.add(key);
    this.#wake();
  }

  has(key: string): boolean {
    return this.#seen.has(key);
  }

  take(): string[] {
    const all = [...this.#seen];
    this.#seen.clear();
    return all;
  }

  /** Resolves when all are there, or after so many milliseconds. */
  async untilAll(keys: readonly string[], patience: number, again: () => void): Promise<void> {
    const end = performance.now() + patience;
    let pause = 250;
    while (keys.some((key) => !this.has(key)) && performance.now() < end) {
      const isSilent = await this.#silence(Math.min(pause, end - performance.now()));
      if (!isSilent) continue;
      pause *= 2;
      again();
    }
  }

  /** @returns false when something arrives before so many milliseconds are over */
  #silence(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(true), milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });
  }
}

/** Servers on the probed ports of every pod. */
export async function openProber(testbed: Testbed): Promise<Prober> {
  const arrivals = new Arrivals();
  const opened: { close(): unknown }[] = [];
  const pods = new Map(testbed.pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  for (const [name, pod] of pods)
    for (const family of probedFamilies) {
      for (const port of probedPorts) opened.push(await serveTcp(pod, name, family, port, arrivals));
      for (const port of [...probedPorts, controlPort])
        opened.push(await serveUdp(pod, name, family, port, arrivals));
    }
  /** Allowed datagrams are sent again while an answer is missing: a second one may come at any time. */
  const allowed = new Set<string>();
  const late: string[] = [];
  const collect = (compared: ReadonlySet<string>): void => {
    for (const key of arrivals.take())
      if (!allowed.has(key) && !compared.has(key) && !key.startsWith(controlPrefix)) late.push(key);
  };
  return {
    get late() {
      collect(new Set());
      return late;
    },
    async ask(probes, isExpected, patience) {
      collect(new Set());
      const expected = probes.filter(isExpected);
      for (const probe of probes) allowed.delete(keyOf(probe));
      for (const probe of expected) allowed.add(keyOf(probe));
      const round = openRound(pods, probes);
      const compared = new Set<string>();
      try {
        await arrivals.untilAll(expected.map(keyOf), patience, () =>
          round.sendDatagrams(expected.filter((probe) => !arrivals.has(keyOf(probe)))),
        );
        await sendControls(testbed, arrivals, patience);
        const arrived = probes.filter((probe) => arrivals.has(keyOf(probe)));
        for (const probe of arrived) compared.add(keyOf(probe));
        return new Set(arrived);
      } finally {
        round.close();
        collect(compared);
      }
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

/** Properties of a probe that the receiver can see, beside the text that it carries. */
const keyOf = ({ from, to, protocol, port, family, sourcePort }: PodProbe): string =>
  [from, to, protocol, port, family, sourcePort].join(' ');

async function serveTcp(
  pod: TestbedPod,
  name: string,
  family: Family,
  port: number,
  arrivals: Arrivals,
): Promise<{ close(): void }> {
  const server = net.createServer((socket) => {
    const { remotePort = 0 } = socket;
    socket.on('error', () => undefined);
    // The key comes with the data: an accept alone has no name of a pod.
    socket.once('data', (data) => {
      const from = data.toString();
      arrivals.note([from, name, 'tcp', port, family, remotePort].join(' '));
      socket.destroy();
    });
  });
  const fd = pod.network.inside(() => openStreamSocket(family));
  bindAddress(fd, addressToBytes(parseAddress(addressOf(pod, family))), port);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ fd, backlog: 512 }, resolve);
  });
  return { close: () => void server.close() };
}

function openBound(network: TestbedNamespace, address: string | undefined, family: Family, port: number) {
  const fd = network.inside(() => openDatagramSocket(family));
  if (address !== undefined) bindAddress(fd, addressToBytes(parseAddress(address)), port);
  const socket = dgram.createSocket(`udp${family}`).on('error', () => undefined);
  return new Promise<dgram.Socket>((resolve) => socket.bind({ fd }, () => resolve(socket)));
}

async function serveUdp(
  pod: TestbedPod,
  name: string,
  family: Family,
  port: number,
  arrivals: Arrivals,
): Promise<{ close(): void }> {
  const socket = await openBound(pod.network, addressOf(pod, family), family, port);
  socket.on('message', (data, { port: sourcePort }) => {
    const from = data.toString();
    arrivals.note(
      port === controlPort
        ? controlKey(name, family)
        : [from, name, 'udp', port, family, sourcePort].join(' '),
    );
  });
  return { close: () => void socket.close() };
}

interface Round {
  sendDatagrams(probes: readonly PodProbe[]): void;
  close(): void;
}

function openRound(pods: ReadonlyMap<string, TestbedPod>, probes: readonly PodProbe[]): Round {
  const streams: net.Socket[] = [];
  const sockets = new Map<string, Promise<dgram.Socket>>();
  let isOver = false;
  const sendDatagrams = (wanted: readonly PodProbe[]): void => {
    for (const { from, to, family, port, sourcePort } of wanted.filter(
      ({ protocol }) => protocol === 'udp',
    )) {
      const pod = pods.get(from)!;
      const key = `${from} ${family} ${sourcePort}`;
      const socket = sockets.get(key) ?? openBound(pod.network, addressOf(pod, family), family, sourcePort);
      sockets.set(key, socket);
      const destination = addressOf(pods.get(to)!, family);
      // A firewall of the sender answers with EPERM: then it has not arrived.
      void socket.then((each) => {
        if (!isOver) each.send(from, port, destination, () => undefined);
      });
    }
  };
  for (const probe of probes.filter(({ protocol }) => protocol === 'tcp')) streams.push(connect(pods, probe));
  sendDatagrams(probes);
  return {
    sendDatagrams,
    close() {
      isOver = true;
      for (const stream of streams) stream.destroy();
      for (const socket of sockets.values()) void socket.then((each) => each.close());
    },
  };
}

function connect(pods: ReadonlyMap<string, TestbedPod>, probe: PodProbe): net.Socket {
  const { from, to, family, port, sourcePort } = probe;
  const pod = pods.get(from)!;
  const fd = pod.network.inside(() => openStreamSocket(family));
  bindAddress(fd, addressToBytes(parseAddress(addressOf(pod, family))), sourcePort);
  const socket = new net.Socket({ fd }).on('error', () => undefined);
  socket.once('connect', () => socket.write(from));
  return socket.connect({ host: addressOf(pods.get(to)!, family), port });
}

const controlPrefix = 'control ';
const controlKey = (pod: string, family: Family): string => `${controlPrefix}${pod} ${family}`;

/** From each node to its own pods. @throws Error when they do not arrive: then nothing can be said */
async function sendControls(testbed: Testbed, arrivals: Arrivals, patience: number): Promise<void> {
  const keys = testbed.pods.flatMap(({ namespace, name }) =>
    probedFamilies.map((family) => controlKey(`${namespace}/${name}`, family)),
  );
  const sockets = new Map<string, dgram.Socket>();
  for (const { name, namespace } of testbed.nodes)
    for (const family of probedFamilies)
      sockets.set(`${name} ${family}`, await openBound(namespace, undefined, family, 0));
  const send = (): void => {
    for (const pod of testbed.pods)
      for (const family of probedFamilies)
        sockets
          .get(`${pod.node} ${family}`)
          ?.send('control', controlPort, addressOf(pod, family), () => undefined);
  };
  try {
    send();
    await arrivals.untilAll(keys, patience, send);
  } finally {
    for (const socket of sockets.values()) socket.close();
  }
  const missing = keys.filter((key) => !arrivals.has(key));
  if (missing.length > 0) throw new Error(`a node does not reach its own pod: ${missing.join(', ')}`);
}
