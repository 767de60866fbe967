import { PodwireError } from '@podwire/errors';
import { expect, test } from 'vitest';
import { createLog } from '../src/log.js';
import { anyText } from './fakes/matchers.js';

const logged = (write: (log: ReturnType<typeof createLog>) => void, level = 'info'): unknown[] => {
  const lines: string[] = [];
  write(createLog({ level, nodeName: 'n', destination: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as unknown);
};

test('a line has time, level, node and message', () => {
  const [line] = logged((log) => log.info({ a: 1 }, 'hello'));
  expect(line).toEqual({ level: 'info', time: anyText, node: 'n', a: 1, msg: 'hello' });
  expect(Number.isNaN(Date.parse((line as { time: string }).time))).toBe(false);
});

test('the level counts', () => {
  expect(logged((log) => log.debug('x'))).toEqual([]);
  expect(logged((log) => log.debug('x'), 'debug')).toHaveLength(1);
});

test('a coded error has code, details and causes; a defect has its stack', () => {
  const cause = new AggregateError([new Error('EBUSY'), new Error('EPERM')], 'two');
  const coded = new PodwireError('KERNEL_REFUSED', 'no', { cause, details: { link: 'cali1' } });
  const [first, second] = logged((log) => {
    log.warn({ err: coded }, 'a');
    log.error({ err: new TypeError('b') }, 'b');
  }) as { err: Record<string, unknown> }[];
  expect(first?.err).toMatchObject({
    code: 'KERNEL_REFUSED',
    details: { link: 'cali1' },
    cause: { message: 'two', errors: [{ message: 'EBUSY' }, { message: 'EPERM' }] },
  });
  expect(first?.err).not.toHaveProperty('stack');
  expect(second?.err).toMatchObject({ type: 'TypeError', message: 'b', stack: anyText });
});
