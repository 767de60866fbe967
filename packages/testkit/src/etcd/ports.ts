import crypto from 'node:crypto';
import net from 'node:net';

/**
 * Unused loopback ports for servers that need a fixed one. Below those that the kernel gives to clients
 * (32768 and up): a server that is stopped finds its port free when it comes back.
 */
export async function findPorts(count: number, address: string): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = crypto.randomInt(10_000, 30_000);
    if (await isFree(port, address)) found.add(port);
  }
  return [...found];
}

function isFree(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
