import net from 'node:net';
import { bracketHost } from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import { orUndefined, untilAborted } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import { openAgentApi } from '../api/locate.js';
import type { EndpointView } from '../api/shapes.js';
import { colorsFor, type Io, printable } from '../io.js';
import { addDirectory, locateDirectory, openLocatedPodApi, placesIn } from '../pods/locate.js';
import { findPod, fullName } from '../pods/names.js';
import { nameOf } from '../pods/list.js';

interface EndpointsView {
  readonly endpoints: readonly Pick<EndpointView, 'pod' | 'containerId' | 'portMappings'>[];
}

interface Forward {
  /** 0: any that is free. */
  readonly local: number;
  readonly remote: number;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Forwards connections to ports of this machine to a port inside the pod, also to one that listens on the pod’s localhost only. Runs until Ctrl-C.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .argument('<ports...>', 'LOCAL:REMOTE, PORT for the same on both sides, or :REMOTE for any local one')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('--address <address>', 'where to listen', '127.0.0.1')
    .action((pod: string, ports: string[]) => run(command, io, pod, ports));
  addDirectory(command);
  addExamples(command, [
    ['podwire port-forward web 8080:80', ''],
    ['podwire port-forward web :80', 'says which port it took'],
  ]);
}

async function run(command: Command, io: Io, text: string, ports: readonly string[]): Promise<void> {
  const { namespace, address } = optionsOf(command) as { namespace?: string; address: string };
  const forwards = ports.map((port) => readForward(command, port));
  const api = openLocatedPodApi(command, io);
  const pod = await findPod(api, text, namespace);
  await warnOfHostPorts(command, io, forwards);
  await untilInterrupted(io, async (signal) => {
    const servers: net.Server[] = [];
    try {
      for (const forward of forwards) servers.push(await listen(api, io, pod, forward, address, signal));
      await untilAborted(signal);
    } finally {
      // Those that listen would keep the process when another port cannot be had.
      for (const server of servers) server.close();
    }
  });
}

/** The packet filter comes before any socket: what goes to a host port never reaches ours. Without a node agent there are none. */
async function warnOfHostPorts(command: Command, io: Io, forwards: readonly Forward[]): Promise<void> {
  const { agentApi } = placesIn(locateDirectory(command, io));
  const asked = openAgentApi({ socket: agentApi, timeout: 2_000 }).get<EndpointsView>('/v1/endpoints');
  const { endpoints } = (await orUndefined(asked, () => true)) ?? { endpoints: [] };
  for (const endpoint of endpoints) {
    const ports = endpoint.portMappings.filter(({ protocol }) => protocol === 'tcp');
    for (const { local } of forwards.filter((each) =>
      ports.some(({ hostPort }) => hostPort === each.local),
    )) {
      const words = `port ${local} is the host port of pod/${nameOf(endpoint)}: connections go there, not through this command`;
      io.stderr.write(`${colorsFor(io, io.stderr).yellow('warning:')} ${printable(words)}\n`);
    }
  }
}

/** `8080:80`, `80`, `:80` */
export function readForward(command: Pick<Command, 'error'>, text: string): Forward {
  const match = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text);
  const remote = Number(match?.[2]);
  const local = match?.[1] === undefined ? remote : Number(match[1]);
  if (match !== null && remote >= 1 && remote <= 65_535 && local <= 65_535) return { local, remote };
  return command.error(`error: ${text} is neither LOCAL:REMOTE nor PORT nor :REMOTE`, { exitCode: 2 });
}

async function listen(
  api: LocalApi,
  io: Io,
  pod: PodView,
  { local, remote }: Forward,
  address: string,
  signal: AbortSignal,
): Promise<net.Server> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    carry(api, pod, remote, socket, signal).catch((error: unknown) => {
      if (!signal.aborted)
        io.stderr.write(`port ${remote} of pod/${fullName(pod)}: ${describeError(error)}\n`);
      socket.destroy();
    });
  });
  const host = bracketHost(address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(`${host}:${local}`, remote, cause)));
    server.listen(local, address, resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  io.stdout.write(`${host}:${port} → pod/${fullName(pod)} port ${remote}\n`);
  return server;
}

function cannotListen(place: string, remote: number, cause: Error): PodwireError {
  const { code } = cause as NodeJS.ErrnoException;
  const isTaken = code === 'EADDRINUSE';
  return new PodwireError('REQUEST_INVALID', `cannot listen at ${place}`, {
    cause,
    ...(isTaken ? { action: `Choose another local port, or :${remote} for any that is free.` } : {}),
  });
}

/** An URL for each connection: they work once. */
async function carry(
  api: LocalApi,
  pod: PodView,
  remote: number,
  socket: net.Socket,
  signal: AbortSignal,
): Promise<void> {
  const { url } = await api.post<{ url: string }>('/v1/port-forward', {
    namespace: pod.namespace,
    name: pod.name,
  });
  const { openPortForward } = await import('@podwire/cri-streaming');
  await openPortForward(url, remote, socket, { signal });
}
