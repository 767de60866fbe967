/** The real packet beside what policy says. */
import dgram from 'node:dgram';
import net from 'node:net';
import type { ConnectionVerdict, Explanation } from '@podwire/agent';
import { familyOf } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { openDatagramSocket, openStreamSocket } from '@podwire/linux';
import type { LocalApi } from '@podwire/local-api';
import { openTestbedNamespace, ping, type TestbedNamespace } from '@podwire/testbed';
import type { EndpointView, StatusView } from '../api/shapes.js';

/** `refused` is an answer, too: the packet has arrived. */
export type Found = 'connected' | 'answered' | 'refused' | 'no answer';

export interface ProbeOutcome {
  readonly destination: string;
  readonly found: Found;
  /** Null where silence says nothing: a program that reads UDP need not answer. */
  readonly agrees: boolean | null;
}

/** Milliseconds: a second attempt of TCP lies in it. */
const deadline = 1_500;

/** @throws PodwireError REQUEST_INVALID where the connection cannot be opened from here */
export async function probeConnections(
  api: LocalApi,
  { from, connections }: Explanation,
): Promise<ProbeOutcome[]> {
  const namespace = openTestbedNamespace(await findNamespace(api, from));
  try {
    return await Promise.all(connections.map((each) => probe(namespace, each)));
  } finally {
    namespace.release();
  }
}

/** The path of the network namespace from which the packet has to come. */
async function findNamespace(api: LocalApi, from: string): Promise<string> {
  if (from.startsWith('node/')) {
    const { node } = await api.get<StatusView>('/v1/status');
    if (from === `node/${node}`) return '/proc/self/ns/net';
  }
  const { endpoints } = await api.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints');
  const endpoint = endpoints.find(({ pod }) => `pod/${pod.namespace ?? 'default'}/${pod.name}` === from);
  if (endpoint !== undefined) return endpoint.netns;
  throw new PodwireError('REQUEST_INVALID', `--probe: ${from} is neither this node nor a pod of it`, {
    action: 'Run the command on the node of the pod.',
  });
}

async function probe(namespace: TestbedNamespace, connection: ConnectionVerdict): Promise<ProbeOutcome> {
  const { destination, protocol } = connection;
  const found = await send(namespace, connection);
  return { destination, found, agrees: compare(protocol, found, connection.verdict) };
}

/** True if the answer agrees with the verdict of policy; null if silence says nothing, as with UDP. */
export function compare(protocol: string, found: Found, verdict: 'allow' | 'deny'): boolean | null {
  if (found !== 'no answer') return verdict === 'allow';
  if (verdict === 'deny') return true;
  return protocol === 'udp' ? null : false;
}

async function send(
  namespace: TestbedNamespace,
  { destination, protocol, port }: ConnectionVerdict,
): Promise<Found> {
  if (protocol === 'icmp' || protocol === 'icmpv6') return echo(namespace, destination);
  if (port !== undefined && protocol === 'tcp') return connect(namespace, destination, port);
  if (port !== undefined && protocol === 'udp') return sendDatagram(namespace, destination, port);
  throw new PodwireError(
    'REQUEST_INVALID',
    `--probe: TCP, UDP and ICMP can be sent from here, ${protocol} not`,
  );
}

const echo = (namespace: TestbedNamespace, address: string): Promise<Found> =>
  ping(namespace, { address, deadline }).then(
    () => 'answered',
    () => 'no answer',
  );

function connect(namespace: TestbedNamespace, host: string, port: number): Promise<Found> {
  const fd = namespace.inside(() => openStreamSocket(familyOf(host)));
  const socket = new net.Socket({ fd }).connect({ host, port });
  return new Promise((resolve) => {
    const end = (found: Found) => (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(found);
    };
    const timer = setTimeout(end('no answer'), deadline);
    socket.once('connect', end('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'refused' : 'no answer')(),
    );
  });
}

/** A port without a program is refused by ICMP, which shows that the datagram has arrived. */
function sendDatagram(namespace: TestbedNamespace, host: string, port: number): Promise<Found> {
  const family = familyOf(host);
  const fd = namespace.inside(() => openDatagramSocket(family));
  const socket = dgram.createSocket(`udp${family}`).bind({ fd });
  return new Promise((resolve) => {
    let isOver = false;
    const end = (found: Found): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.close();
      resolve(found);
    };
    const fail = (error: Error | null): void => {
      if (error !== null)
        end((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'no answer');
    };
    const timer = setTimeout(() => end('no answer'), deadline);
    socket.on('error', fail).once('message', () => end('answered'));
    socket.once('connect', () => socket.send('podwire', fail));
    socket.connect(port, host);
  });
}
