/** `port-proxy-program SOCKET PORT tls|plain`: joins connections to a socket file with a port of the namespace it runs in. */
import net from 'node:net';
import tls from 'node:tls';

const [socket = '', port = '', kind = ''] = process.argv.slice(2);
const target = { host: '127.0.0.1', port: Number(port) };

const server = net.createServer({ allowHalfOpen: true }, (client) => {
  // The servers make certificates of their own for each run: there is nothing to check them with.
  const beyond =
    kind === 'tls'
      ? tls.connect({ ...target, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : net.connect({ ...target, allowHalfOpen: true });
  for (const [from, to] of [
    [client, beyond],
    [beyond, client],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
});
server.listen(socket, () => console.log('open'));
