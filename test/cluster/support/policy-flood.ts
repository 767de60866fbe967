/**
 * Datagrams from every pod to every address that pods have or had, without end, counted where they arrive. Each carries the name of
 * the pod that has sent it: an address may have another owner by then.
 */
import dgram from 'node:dgram';
import { addressToBytes, familyOf, parseAddress } from '@podwire/addresses';
import { bindAddress, openDatagramSocket } from '@podwire/linux';
import type { TestbedPod } from '@podwire/testbed';

/** Always the same: the next owner of an address sends with the ports of the owner before. */
const ports = { from: 5000, to: 80 } as const;
/** Milliseconds between two datagrams of a pod to the same address. */
const interval = 50;

export interface Flood {
  join(pod: TestbedPod): Promise<void>;
  leave(name: string): void;
  /** `from > to`: how many have arrived. */
  readonly arrived: ReadonlyMap<string, number>;
  /** How many were sent, by the name of their sender. */
  readonly sent: ReadonlyMap<string, number>;
  close(): void;
}

interface Member {
  readonly name: string;
  readonly senders: ReadonlyMap<number, dgram.Socket>;
  readonly receivers: readonly dgram.Socket[];
}

export const podNameOf = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${namespace}/${name}`;

export function startFlood(): Flood {
  const members = new Map<string, Member>();
  const targets = new Set<string>();
  const arrived = new Map<string, number>();
  const sent = new Map<string, number>();
  const sendAll = (): void => {
    for (const { name, senders } of members.values())
      for (const address of targets) {
        // A pod that is being removed has no route any more.
        senders.get(familyOf(address))?.send(name, ports.to, address, () => undefined);
        count(sent, name);
      }
  };
  const timer = setInterval(sendAll, interval);
  const leave = (name: string): void => {
    const member = members.get(name);
    members.delete(name);
    for (const socket of [...(member?.senders.values() ?? []), ...(member?.receivers ?? [])]) socket.close();
  };
  return {
    arrived,
    sent,
    async join(pod) {
      const name = podNameOf(pod);
      const senders = new Map<number, dgram.Socket>();
      const receivers: dgram.Socket[] = [];
      for (const address of pod.addresses) {
        senders.set(familyOf(address), await openSocket(pod, address, ports.from));
        const receiver = await openSocket(pod, address, ports.to);
        receivers.push(receiver.on('message', (data) => count(arrived, `${data.toString()} > ${name}`)));
        targets.add(address);
      }
      members.set(name, { name, senders, receivers });
    },
    leave,
    close() {
      clearInterval(timer);
      for (const name of [...members.keys()]) leave(name);
    },
  };
}

const count = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** In the namespace of the pod, at its address. */
export async function openSocket(pod: TestbedPod, address: string, port: number): Promise<dgram.Socket> {
  const family = familyOf(address);
  const fd = pod.network.inside(() => openDatagramSocket(family));
  bindAddress(fd, addressToBytes(parseAddress(address)), port);
  const socket = dgram.createSocket(`udp${family}`).on('error', () => undefined);
  await new Promise<void>((resolve) => socket.bind({ fd }, () => resolve()));
  return socket;
}
