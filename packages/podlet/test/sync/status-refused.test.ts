import { describe, expect, it } from 'vitest';
import { createBench } from './fixture.js';
import { aPod } from './pods.js';

const second = 1_000;
const uid = 'uid-web';

describe('a status that the API server refuses', () => {
  it('is in the view of the pod until it is taken, and in its events', async () => {
    const bench = createBench();
    bench.file.say([aPod()]);
    const podlet = bench.start();
    await bench.clock.advance(3 * second);
    podlet.noteStatusRefusal(uid, 'status.podIPs: Invalid value');
    podlet.noteStatusRefusal(uid, 'status.podIPs: Invalid value');
    expect(podlet.view(uid)?.statusRefusal).toBe('status.podIPs: Invalid value');
    expect(podlet.events().filter(({ reason }) => reason === 'StatusRefused')).toMatchObject([
      {
        type: 'Warning',
        count: 2,
        message: 'The API server refuses its status: status.podIPs: Invalid value',
      },
    ]);
    podlet.noteStatusRefusal(uid, undefined);
    expect(podlet.view(uid)).not.toHaveProperty('statusRefusal');
    await podlet.stop();
  });

  it('has one address of a family, also where a CNI result has more', async () => {
    const bench = createBench({
      addressesOf: () => ['10.0.0.1', '10.0.0.2', '2001:db8::1', '2001:db8::2'],
    });
    bench.file.say([aPod()]);
    const podlet = bench.start();
    await bench.clock.advance(3 * second);
    const { podIP, podIPs } = podlet.view(uid)!.status;
    expect([podIP, podIPs]).toEqual(['10.0.0.1', [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }]]);
    await podlet.stop();
  });
});
