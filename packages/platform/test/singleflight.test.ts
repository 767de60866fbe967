import { expect, test } from 'vitest';
import { createOnDemand, Singleflight } from '@podwire/platform';

test('is started once, by the first caller', async () => {
  let starts = 0;
  const thing = createOnDemand(() => Promise.resolve(++starts));
  expect(await thing.started()).toBeUndefined();
  expect(await Promise.all([thing.get(), thing.get()])).toEqual([1, 1]);
  expect(await thing.get()).toBe(1);
  expect(await thing.started()).toBe(1);
});

test('what could not be started is tried again, and is nothing meanwhile', async () => {
  let starts = 0;
  const thing = createOnDemand(() =>
    ++starts === 1 ? Promise.reject(new Error('taken')) : Promise.resolve(starts),
  );
  const first = thing.get();
  const started = thing.started();
  await expect(first).rejects.toThrow('taken');
  expect(await started).toBeUndefined();
  expect(await thing.started()).toBeUndefined();
  expect(await thing.get()).toBe(2);
});

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });

test('callers of one key share the work; another key has its own', async () => {
  const flights = new Singleflight<number>();
  let begun = 0;
  const work = (): Promise<number> => Promise.resolve(++begun);
  const { signal } = new AbortController();
  expect(
    await Promise.all([
      flights.join('a', signal, work),
      flights.join('a', undefined, work),
      flights.join('b', signal, work),
    ]),
  ).toEqual([1, 1, 2]);
  expect(await flights.join('a', signal, work)).toBe(3);
});

test('a caller that leaves gets its own reason, and the work goes on for the others', async () => {
  const flights = new Singleflight<string>();
  let finish = (_: string): void => undefined;
  const work = (): Promise<string> => new Promise((resolve) => (finish = resolve));
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const one = flights.join('a', leaving.signal, work);
  const other = flights.join('a', staying.signal, work);
  leaving.abort(new Error('left'));
  await expect(one).rejects.toThrow('left');
  finish('done');
  expect(await other).toBe('done');
});

test('the last caller to leave cancels the work and waits for its end; the next one begins after that', async () => {
  const flights = new Singleflight<string>();
  const leaving = new AbortController();
  const one = flights.join('a', leaving.signal, never);
  leaving.abort(new Error('left'));
  const next = flights.join('a', undefined, () => Promise.resolve('anew'));
  await expect(one).rejects.toThrow('cancelled');
  expect(await next).toBe('anew');
  await flights.idle();
});

test('an aborted caller begins nothing, and a failure is not kept', async () => {
  const flights = new Singleflight<string>();
  const aborted = AbortSignal.abort(new Error('late'));
  await expect(flights.join('a', aborted, () => Promise.resolve('x'))).rejects.toThrow('late');
  await expect(flights.join('a', undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await flights.join('a', undefined, () => Promise.resolve('yes'))).toBe('yes');
});
