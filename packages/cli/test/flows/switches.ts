/** Fake switches behind real sockets, for commands that ask a bridge. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { addFlow, connectSwitch, type Flow, parseFlow } from '@podwire/openflow';
import { FakeSwitch } from '@podwire/openflow/fake';
import { onTestFinished } from 'vitest';
import { makeTemporaryDirectory } from '../temporary.js';

export type Accept = (socket: net.Socket) => unknown;

/** Serves sockets, by their file names, in a run directory of its own. */
export async function serve(sockets: Readonly<Record<string, Accept>>): Promise<string> {
  const runDir = makeTemporaryDirectory();
  for (const [name, accept] of Object.entries(sockets)) {
    const open = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      open.add(socket.on('error', () => undefined));
      accept(socket);
    });
    await new Promise<void>((resolve) => server.listen(path.join(runDir, name), resolve));
    onTestFinished(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
  }
  return runDir;
}

const port = (number: number, name: string) => ({
  ...{ port: number, name, mac: '02:00:00:00:00:01', isDown: false, hasLink: true },
});

export async function createSwitch(flows: readonly Flow[]): Promise<FakeSwitch> {
  const ports = [port(1, 'vxlan0'), port(2, 'tun0'), port(3, 'veth3'), port(4, 'veth4')];
  const fake = new FakeSwitch({ ports });
  const connection = await connectSwitch(fake.connect());
  await connection.applyBundle(flows.map(addFlow));
  connection.close();
  return fake;
}

export const goldenFlows = (name: string): Flow[] =>
  fs
    .readFileSync(`packages/networks/sdn/test/golden/v13-${name}.txt`, 'utf8')
    .trimEnd()
    .split('\n')
    .map(parseFlow);

export const pipeTo =
  (fake: FakeSwitch): Accept =>
  (socket) =>
    socket.pipe(fake.connect()).pipe(socket);
