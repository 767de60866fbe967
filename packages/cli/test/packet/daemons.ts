/** Nodes with a fake switch and a daemon that answers with what ovs-vswitchd has printed. */
import fs from 'node:fs';
import path from 'node:path';
import { type Flow, parseFlow } from '@podwire/openflow';
import { type Accept, createSwitch, goldenFlows, pipeTo, serve } from '../flows/switches.js';

export const recorded = (name: string): string =>
  fs.readFileSync(`packages/unixctl/test/traces/${name}.txt`, 'utf8');

export interface Asked {
  readonly method: string;
  readonly params: readonly string[];
}

/** Answers everything in the same way. */
export function answer(members: object, asked: Asked[] = []): Accept {
  return (socket) =>
    socket.on('data', (chunk) => {
      const { id, ...request } = JSON.parse(chunk.toString()) as Asked & { readonly id: number };
      asked.push(request);
      socket.write(JSON.stringify({ id, result: null, error: null, ...members }));
    });
}

/** Those of the recorded traces: the golden ones, and a pod of another project at port 5. */
const flows = [
  ...goldenFlows('multitenant'),
  parseFlow('table=20,priority=100,in_port=5,ip,ip_src=10.128.2.4,actions=load:0x7->reg0[],goto_table:27'),
];

/** @returns the run directory */
export async function startNode(accept: Accept, given: readonly Flow[] = flows): Promise<string> {
  const sockets = { 'br0.mgmt': pipeTo(await createSwitch(given)), 'ovs-vswitchd.42.ctl': accept };
  const runDir = await serve(sockets);
  fs.writeFileSync(path.join(runDir, 'ovs-vswitchd.pid'), '42\n');
  return runDir;
}

/** Of the node at the other end of the tunnel: addresses of nodes, and subnets, have changed places. */
export function otherFlows(): Flow[] {
  const places = {
    '192.0.2.1': '192.0.2.2',
    '192.0.2.2': '192.0.2.1',
    '10.128.2.': '10.128.4.',
    '10.128.4.': '10.128.2.',
  };
  const swapped = JSON.stringify(goldenFlows('multitenant')).replaceAll(
    /192\.0\.2\.[12]|10\.128\.[24]\./g,
    (text) => places[text as keyof typeof places],
  );
  return JSON.parse(swapped) as Flow[];
}
