import { CniError } from '@podwire/cni';
import { type ErrorCode, errorCatalogue, PodwireError } from '@podwire/errors';
import { describe, expect, test } from 'vitest';
import { errorLabel, joinErrors, toCniError } from '../src/errors.js';

describe('errors as the runtime sees them', () => {
  test.each(Object.keys(errorCatalogue) as ErrorCode[])('%s', (code) => {
    const thrown = new PodwireError(code, 'what happened');
    const error = toCniError(thrown, 'ADD', '1.0.0');
    const expected = code === 'AGENT_NOT_READY' ? 11 : errorCatalogue[code].cni;
    expect(error.toJSON()).toEqual({
      cniVersion: '1.0.0',
      code: expected,
      msg: `${code}: what happened`,
      ...(thrown.action === undefined ? {} : { details: thrown.action }),
    });
    // 50 and 51 are answers to STATUS alone.
    expect([50, 51]).not.toContain(error.code);
  });

  test('STATUS tells an agent that is not ready from a node that is broken', () => {
    const notReady = new PodwireError('AGENT_NOT_READY', 'starting');
    const broken = new PodwireError('AGENT_NOT_READY', 'no table', {
      details: { limitedConnectivity: true },
    });
    expect(toCniError(notReady, 'STATUS').code).toBe(50);
    expect(toCniError(broken, 'STATUS').code).toBe(51);
    expect(toCniError(new PodwireError('POOL_EXHAUSTED', 'full'), 'STATUS').code).toBe(50);
    expect(toCniError(new PodwireError('CONFIG_INVALID', 'network'), 'STATUS').code).toBe(7);
  });

  test('what is a CNI error already stays, and gets a version if it has none', () => {
    expect(toCniError(new CniError(6, 'no JSON'), undefined, '1.1.0').toJSON()).toEqual({
      cniVersion: '1.1.0',
      code: 6,
      msg: 'no JSON',
    });
    expect(toCniError(new CniError(7, 'x', { cniVersion: '0.4.0' }), 'ADD', '1.1.0').cniVersion).toBe(
      '0.4.0',
    );
  });

  test('anything else is a defect, with its causes', () => {
    const error = toCniError(new TypeError('x is not a function'), 'ADD');
    expect(error).toMatchObject({ code: 999, message: 'INTERNAL: unexpected error: x is not a function' });
    expect(toCniError('text', 'DEL').message).toContain('text');
  });

  test("the reason of AbortSignal.timeout is a deadline's end, no defect", () => {
    const error = toCniError(new DOMException('aborted', 'TimeoutError'), 'CHECK');
    expect(error).toMatchObject({ code: 11, message: 'DEADLINE_EXCEEDED: it took too long: aborted' });
  });

  test('labels are few', () => {
    expect(errorLabel(new PodwireError('PORT_IN_USE', ''))).toBe('PORT_IN_USE');
    expect(errorLabel(new CniError(7, ''))).toBe('CNI_7');
    expect(errorLabel(new Error('x'))).toBe('INTERNAL');
    expect(errorLabel(new DOMException('x', 'TimeoutError'))).toBe('DEADLINE_EXCEEDED');
  });

  test('several failures are one error', () => {
    const one = new Error('one');
    expect(joinErrors('all', [])).toBeUndefined();
    expect(joinErrors('all', [one])).toBe(one);
    expect(joinErrors('all', [one, new Error('two')])).toMatchObject({
      code: 'REMOVE_INCOMPLETE',
      message: 'all',
    });
  });
});
