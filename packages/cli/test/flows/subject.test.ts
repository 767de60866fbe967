import { parseFlow } from '@podwire/openflow';
import { expect, test } from 'vitest';
import { findSubject } from '../../src/flows/subject.js';

const pod = { name: 'pod web', addresses: ['10.1.0.2'] };
const ports = [{ port: 4, name: 'veth4', mac: '02:00:00:00:00:01', isDown: false, hasLink: true }];
const flows = ['in_port=1,ip,ip_src=10.1.0.2', 'in_port=3,arp,arp_spa=10.1.0.2', 'in_port=5,ip'].map(
  (match) => ({ flow: parseFlow(`${match},actions=drop`), duration: 0 }),
);

test('the port that has the name of the link counts alone', () => {
  expect(findSubject({ ...pod, link: 'veth4' }, { flows, ports }).ports).toEqual([4]);
});

test('without such a port those count from which the address comes', () => {
  expect(findSubject({ ...pod, link: 'cali1' }, { flows, ports }).ports).toEqual([1, 3]);
  expect(findSubject(pod, { flows, ports }).ports).toEqual([1, 3]);
});
