import { silentLog } from '@podwire/platform';
import { expect, test, vi } from 'vitest';
import { followStoreAddresses } from '../../src/cluster/store-addresses.js';

test('literal addresses are known at once; names when they are looked up, and again after a while', async () => {
  const answers: Record<string, string[]> = { 'etcd.example': ['10.0.0.5', '2001:DB8::5'] };
  const clock = { time: 0, elapsed: () => clock.time };
  const lookup = vi.fn(async (host: string) => {
    await Promise.resolve();
    if (answers[host] === undefined) throw new Error('ENOTFOUND');
    return answers[host].map((address) => ({ address }));
  });
  const endpoints = [
    'https://10.0.0.4:2379',
    'http://[2001:db8::4]:2379',
    'https://etcd.example:2379',
    'https://none.example',
  ];
  const read = followStoreAddresses(endpoints, { clock, log: silentLog, lookup });
  expect(read()).toEqual(['10.0.0.4', '2001:db8::4']);
  await vi.waitFor(() => expect(read()).toEqual(['10.0.0.4', '2001:db8::4', '10.0.0.5', '2001:db8::5']));
  expect(lookup).toHaveBeenCalledTimes(2);
  answers['etcd.example'] = ['10.0.0.6'];
  clock.time = 60_000;
  expect(read()).toContain('10.0.0.5');
  await vi.waitFor(() => expect(read()).toEqual(['10.0.0.4', '2001:db8::4', '10.0.0.6']));
});
