import path from 'node:path';
import { expect, test } from 'vitest';
import { tracePacket } from '../../src/packet/read.js';
import { serve } from '../flows/switches.js';

const startSilent = async (onAsked = (): void => undefined): Promise<string> => {
  const runDir = await serve({ daemon: (socket) => socket.on('data', onAsked) });
  return path.join(runDir, 'daemon');
};
const place = { bridge: 'br0', runDir: '/nonexistent' };
const { signal } = new AbortController();

test('says that ovs-vswitchd does not answer in time', async () => {
  const target = await startSilent();
  await expect(tracePacket({ ...place, target }, 'ip', { signal, timeout: 0.02 })).rejects.toMatchObject({
    code: 'SWITCH_UNAVAILABLE',
    message: 'ovs-vswitchd has not answered for 0.02 s',
    action: 'Look whether ovs-vswitchd is stopped or busy (`top`, its log); --timeout allows more seconds.',
  });
});

test('says that ovs-vswitchd has ended before its answer', async () => {
  const runDir = await serve({ daemon: (socket) => socket.on('data', () => socket.end()) });
  const target = path.join(runDir, 'daemon');
  const trace = tracePacket({ ...place, target }, 'ip', { signal, timeout: 60 });
  await expect(trace).rejects.toThrow(/^ovs-vswitchd cannot be asked: .*: the server ended the connection$/);
  await expect(trace).rejects.toMatchObject({ code: 'SWITCH_UNAVAILABLE' });
});

test('leaves ovs-vswitchd at once when it is interrupted', async () => {
  const interrupted = new AbortController();
  const reason = new Error('interrupted');
  const target = await startSilent(() => interrupted.abort(reason));
  const options = { signal: interrupted.signal, timeout: 60 };
  await expect(tracePacket({ ...place, target }, 'ip', options)).rejects.toBe(reason);
});
