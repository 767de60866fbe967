/** A proxy between a client and etcd in tests: cuts one client off, or keeps answers from it. */
import net from 'node:net';

export interface Proxy {
  readonly endpoint: string;
  /** How many connections were made so far. */
  readonly connections: number;
  /** Ends all connections and takes no others, as a server that is down. */
  cut(): void;
  /** Connections stay; what the server says is thrown away. */
  deafen(): void;
  /** Whatever was done to it is over; connections made from now on are good. */
  restore(): void;
  close(): Promise<void>;
}

/** @param endpoint of the server; the proxy's has the same scheme */
export async function startProxy(endpoint: string): Promise<Proxy> {
  const target = new URL(endpoint);
  const sockets = new Set<net.Socket>();
  let isCut = false;
  let isDeaf = false;
  let connections = 0;
  const endAll = (): void => sockets.forEach((socket) => socket.destroy());
  const server = net.createServer((inside) => {
    connections += 1;
    if (isCut) {
      inside.destroy();
      return;
    }
    const outside = net.connect(Number(target.port), target.hostname);
    const both = [inside, outside];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        both.forEach((each) => each.destroy());
      });
    }
    inside.pipe(outside);
    outside.on('data', (bytes) => void (isDeaf || inside.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    endpoint: `${target.protocol}//127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    cut: () => {
      isCut = true;
      endAll();
    },
    deafen: () => {
      isDeaf = true;
    },
    restore: () => {
      if (isDeaf) endAll();
      isCut = isDeaf = false;
    },
    close: async () => {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
