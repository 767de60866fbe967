import { describe, expect, expectTypeOf, it } from 'vitest';
import { describeError, type ErrorCode, errorCatalogue, PodwireError } from '@podwire/errors';

describe('PodwireError', () => {
  it('has code, message, details and the action of the catalogue', () => {
    const error = new PodwireError('ADDRESS_IN_USE', '10.0.0.1 belongs to a', { details: { owner: 'a' } });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'PodwireError',
      code: 'ADDRESS_IN_USE',
      message: '10.0.0.1 belongs to a',
      details: { owner: 'a' },
      action: errorCatalogue.ADDRESS_IN_USE.action,
    });
    expect(error.stack).toContain('podwire-error.test');
  });

  it('has empty details and no cause unless they are given', () => {
    const error = new PodwireError('INTERNAL', 'oops');
    expect(error.details).toEqual({});
    expect('cause' in error).toBe(false);
  });

  it.each([new Error('inner'), 'text', 0, null])('keeps the cause %s', (cause) => {
    expect(new PodwireError('INTERNAL', 'oops', { cause }).cause).toBe(cause);
  });

  it('shows code and details where errors are serialised with their own fields', () => {
    const error = new PodwireError('PORT_IN_USE', 'taken', { details: { port: 80, hosts: ['::1'] } });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PodwireError',
      code: 'PORT_IN_USE',
      details: { port: 80, hosts: ['::1'] },
    });
  });

  it('has the action of its code unless it is given one, or told that there is none', () => {
    const ofCode = (options?: { action: string | null }) =>
      new PodwireError('POD_UNKNOWN', 'm', options).action;
    expect(ofCode()).toBe(errorCatalogue.POD_UNKNOWN.action);
    expect(ofCode({ action: 'Look elsewhere.' })).toBe('Look elsewhere.');
    expect(ofCode({ action: null })).toBeUndefined();
    expect(new PodwireError('REQUEST_INVALID', 'm').action).toBeUndefined();
    expectTypeOf<'NO_SUCH_CODE'>().not.toExtend<ErrorCode>();
  });
});

describe('describeError', () => {
  it('joins the messages of the causes', () => {
    const kernel = new Error('EEXIST');
    const batch = new Error('add route', { cause: kernel });
    expect(describeError(new PodwireError('KERNEL_REFUSED', 'wiring web', { cause: batch }))).toBe(
      'wiring web: add route: EEXIST',
    );
  });

  it('says once what each layer hands on with the error that it is of', () => {
    const taken = new Error('host port 8080 is taken by pod shop/web');
    const plugin = new Error(`plugin podwire-cni failed to ADD: ${taken.message}`, { cause: taken });
    const network = new PodwireError('NETWORK_ATTACH_FAILED', `pod shop/db: ${plugin.message} (exit 1)`, {
      cause: plugin,
    });
    expect(describeError(new Error(`run sandbox: ${network.message}`, { cause: network }))).toBe(
      'run sandbox: pod shop/db: plugin podwire-cni failed to ADD: host port 8080 is taken by pod shop/web (exit 1)',
    );
  });

  it('lists the errors inside an AggregateError, with their causes', () => {
    const error = new AggregateError(
      [new Error('a', { cause: new Error('b') }), 'c', new AggregateError([new Error('d')])],
      'remove',
      { cause: new Error('e') },
    );
    expect(describeError(error)).toBe('remove: a: b; c; d: e');
  });

  it.each([
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7n, '7'],
    [Symbol('s'), 'Symbol(s)'],
    [{ code: 'X' }, '{"code":"X"}'],
    [{ n: 1n }, '[object Object]'],
    [new TypeError(), 'TypeError'],
    [new Error('', { cause: 'why' }), 'why'],
    [new Error('a', { cause: { errno: 2 } }), 'a: {"errno":2}'],
  ])('describes %s', (value, text) => {
    expect(describeError(value)).toBe(text);
  });

  it('ends on causes that form a circle', () => {
    const a = new Error('a');
    const b = new Error('b', { cause: a });
    a.cause = b;
    expect(describeError(a)).toMatch(/^(?:[ab]: ){8}…$/);
  });
});
