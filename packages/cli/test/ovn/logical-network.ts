/** The network whose traces are in `recorded`: what `ovn-trace --detailed` 23.03 has printed, without lines of its source. */
import fs from 'node:fs';
import path from 'node:path';
import type { LogicalPlaces } from '@podwire/controller';
import { buildMicroflow, findEnds, type LogicalQuestion } from '../../src/ovn/question.js';
import { readTrace } from '../../src/ovn/trace-text.js';
import { type LogicalTraceView, viewTrace } from '../../src/ovn/trace-view.js';

export const places: LogicalPlaces = {
  switches: [
    { name: 'join', isPrivate: false, gatewayMac: '00:00:00:00:01:01' },
    { name: 'red', isPrivate: false, gatewayMac: '00:00:00:00:01:02' },
    { name: 'blue', isPrivate: true, gatewayMac: '00:00:00:00:01:03' },
    { name: 'outer', isPrivate: false },
  ],
  ports: [
    {
      ...{ name: 'node-n1', switch: 'join', mac: '00:00:00:00:02:01', node: 'n1' },
      addresses: ['100.64.0.2', 'fd64::2'],
    },
    {
      ...{ name: 'web.shop', switch: 'red', mac: '00:00:00:00:03:01', pod: 'shop/web', node: 'n1' },
      addresses: ['10.16.0.2', 'fd16::2'],
    },
    {
      ...{ name: 'app.shop', switch: 'red', mac: '00:00:00:00:03:02', pod: 'shop/app', node: 'n2' },
      addresses: ['10.16.0.3', 'fd16::3'],
    },
    {
      ...{ name: 'db.bank', switch: 'blue', mac: '00:00:00:00:03:03', pod: 'bank/db', node: 'n2' },
      addresses: ['10.17.0.2', 'fd17::2'],
    },
    {
      ...{ name: 'old.bank', switch: 'outer', mac: '00:00:00:00:03:04', pod: 'bank/old' },
      addresses: ['10.18.0.2'],
    },
  ],
};

export const readRecorded = (name: string): string =>
  fs.readFileSync(path.join(import.meta.dirname, 'recorded', `${name}.txt`), 'utf8');

export const askFor = (
  from: string,
  to: string,
  rest: Pick<LogicalQuestion, 'protocol' | 'port'> = { protocol: 'icmp' },
): LogicalQuestion => ({ ...findEnds(from, to, places), ...rest });

export function viewRecorded(name: string, question: LogicalQuestion): LogicalTraceView {
  const microflow = buildMicroflow(question, places);
  return viewTrace({ question, microflow, places }, readTrace(readRecorded(name))!);
}
