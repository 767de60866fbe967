import { describe, expect, test } from 'vitest';
import { ContainerEventResponse, EventBroadcast, parseNetDev } from '../src/index.js';

describe('a broadcast of events', () => {
  const event = (containerId: string) => ContainerEventResponse.fromPartial({ containerId });
  const collect = async (events: AsyncIterable<ContainerEventResponse>): Promise<string[]> => {
    const seen: string[] = [];
    for await (const { containerId } of events) seen.push(containerId);
    return seen;
  };

  test('reaches all listeners, from when they began until they leave', async () => {
    const events = new EventBroadcast();
    events.emit(event('before'));
    const leaving = new AbortController();
    const all = collect(events.listen(undefined));
    const some = collect(events.listen(leaving.signal));
    events.emit(event('one'));
    await new Promise(setImmediate);
    leaving.abort();
    events.emit(event('two'));
    await new Promise(setImmediate);
    events.close();
    expect(await all).toEqual(['one', 'two']);
    expect(await some).toEqual(['one']);
    expect(events.hasListeners).toBe(false);
  });

  test('fails a listener that gives up with the error that it names', async () => {
    const gone = AbortSignal.abort();
    const events = new EventBroadcast();
    await expect(collect(events.listen(gone, new Error('given up')))).rejects.toThrow('given up');
  });
});

test('counters of interfaces are read from /proc/net/dev', () => {
  const text = `Inter-|   Receive |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    2    0    0     0          0         0      300       1    4    0    0     0       0          0
  eth0:18446744073709551615 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0
`;
  const [lo, eth0] = parseNetDev(text);
  expect(lo).toEqual({
    name: 'lo',
    rxBytes: { value: 100n },
    rxErrors: { value: 2n },
    txBytes: { value: 300n },
    txErrors: { value: 4n },
  });
  expect(eth0?.rxBytes?.value).toBe(2n ** 64n - 1n);
  expect(parseNetDev('')).toEqual([]);
});
