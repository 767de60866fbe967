import { readPrintedError, readPrintedResult } from '@podwire/cni';
import { describe, expect, test } from 'vitest';

const result = '{"cniVersion":"0.2.0","ip4":{"ip":"10.128.0.5/23","gateway":"10.128.0.1"}}';

describe('the output of a plugin', () => {
  test('is read as a result of its version, or as nothing', () => {
    expect(readPrintedResult('', '0.2.0')).toBeUndefined();
    expect(readPrintedResult(result, '0.2.0')).toEqual(JSON.parse(result));
    expect(readPrintedResult('{"ip4":{"ip":"10.0.0.1/8"}}', '0.2.0')).toHaveProperty('cniVersion', '0.2.0');
  });

  test('is read as an error', () => {
    const error = readPrintedError('{"cniVersion":"0.2.0","code":11,"msg":"later","details":"soon"}');
    expect(error).toMatchObject({ code: 11, msg: 'later', details: 'soon' });
  });

  test('is an error itself when it is neither', () => {
    expect(() => readPrintedResult('oops', '0.2.0')).toThrow('neither a result nor an error: "oops"');
    expect(() => readPrintedError('oops')).toThrow('neither a result nor an error: "oops"');
    expect(readPrintedError('[]')).toMatchObject({ code: 6 });
  });
});
