import { keysBelow } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, it } from 'vitest';
import { createOvnController, type OvnControllerOptions } from '../src/index.js';

const create = (options: Partial<OvnControllerOptions>) =>
  createOvnController({
    ...{ store: createMemoryServer({ clock: systemClock }).connect(), keys: keysBelow('/podwire') },
    ...{ clock: systemClock, log: silentLog, name: 'a', northbound: ['unix:/run/ovn/ovnnb_db.sock'] },
    ...options,
  });

it('refuses endpoints and addresses that cannot be, before it is a candidate', () => {
  expect(() => create({ northbound: ['/run/ovn/ovnnb_db.sock'] })).toThrow(
    'northbound: /run/ovn/ovnnb_db.sock is no endpoint: expected unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT',
  );
  expect(() => create({ defaults: { joinCidr: '100.64.0.1/16' } })).toThrow(
    'addresses: Subnet join: has bits set beyond its length; write 100.64.0.0/16',
  );
  expect(create({}).isLeading).toBe(false);
});
