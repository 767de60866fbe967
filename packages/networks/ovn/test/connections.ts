/** Connections that outlive what the node knows of them. */
import type { RunningProcess, TestNamespace } from '@podwire/testkit';

export interface OpenConnection {
  readonly client: RunningProcess;
  readonly server: RunningProcess;
  close(): Promise<void>;
}

/** Sends what it reads from its standard input to its clients. */
const serverScript = `
const [, address] = process.argv;
const connect = (connection) => process.stdin.on('data', (data) => connection.write(data));
const server = require('node:net').createServer((one) => connect(one.on('error', () => process.exit())));
server.listen(0, address, () => console.log('ready ' + server.address().port));`;

/** Shows what it gets, and resets the connection at the first line from its standard input. */
const clientScript = `
const [, host, port, localAddress] = process.argv;
const client = require('node:net').connect({ host, port, localAddress }, () => console.log('connected'));
client.pipe(process.stdout);
process.stdin.once('data', () => { client.resetAndDestroy(); process.stdin.destroy(); });`;

const start = (namespace: TestNamespace, script: string, ...args: readonly string[]): RunningProcess =>
  namespace.start([process.execPath, '-e', script, ...args]);

/** Resolves when the connection is there. */
export async function openConnection(
  [from, source]: readonly [TestNamespace, string],
  [to, address]: readonly [TestNamespace, string],
): Promise<OpenConnection> {
  const server = start(to, serverScript, address);
  const [, port] = await server.waitForOutput(/ready (\d+)/);
  const client = start(from, clientScript, address, port!, source);
  await client.waitForOutput(/connected/);
  return {
    ...{ client, server },
    async close() {
      client.kill('SIGKILL');
      server.kill('SIGKILL');
      await Promise.all([client.exited, server.exited]);
    },
  };
}

export const say = ({ child }: RunningProcess, line: string): void => void child.stdin?.write(`${line}\n`);
