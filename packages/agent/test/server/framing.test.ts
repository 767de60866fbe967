import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { decodeRequest, encodeAnswer, encodeRequest } from '../../src/server/framing.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('the request of a plugin', () => {
  test('is read', () => {
    expect(decodeRequest(bytes('PW1\0CNI_COMMAND=ADD\0CNI_ARGS=A=1;B=2\0TRACEPARENT=\0\0{"a":1}'))).toEqual({
      environment: [
        ['CNI_COMMAND', 'ADD'],
        ['CNI_ARGS', 'A=1;B=2'],
        ['TRACEPARENT', ''],
      ],
      stdin: bytes('{"a":1}'),
    });
  });

  test('may have neither environment nor input', () => {
    expect(decodeRequest(bytes('PW1\0\0'))).toEqual({ environment: [], stdin: bytes('') });
  });

  test.each([
    ['', 'does not begin with PW1'],
    ['GET / HTTP/1.1\r\n\r\n', 'does not begin with PW1'],
    ['PW2\0\0', 'does not begin with PW1'],
    ['PW1\0', 'no end'],
    ['PW1\0CNI_COMMAND=ADD', 'no end'],
    ['PW1\0CNI_COMMAND=ADD\0', 'no end'],
    ['PW1\0LD_PRELOAD=x\0\0', 'LD_PRELOAD=x'],
    ['PW1\0CNI_x=1\0\0', 'CNI_x=1'],
    ['PW1\0CNI_COMMAND\0\0', 'CNI_COMMAND'],
    ['PW1\0=\0\0', '"="'],
    [`PW1\0${'CNI_A=\0'.repeat(65)}\0`, 'more than 64'],
  ])('%j is refused', (text, message) => {
    expect(() => decodeRequest(bytes(text))).toThrow(message);
  });

  test('property: what is encoded is decoded', () => {
    const name = fc.stringMatching(/^CNI_[A-Z]{1,10}$/);
    const value = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    const request = fc.record({
      environment: fc.array(fc.tuple(name, value), { maxLength: 20 }),
      stdin: fc.uint8Array().map((array) => Buffer.from(array)),
    });
    fc.assert(
      fc.property(request, (given) => {
        expect(decodeRequest(encodeRequest(given))).toEqual(given);
      }),
    );
  });

  test('property: any bytes are decoded or refused with a code', () => {
    const tail = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(fc.constantFrom('', 'PW1\0', 'PW1\0CNI_A='), tail, (head, rest) => {
        try {
          decodeRequest(Buffer.concat([bytes(head), rest]));
        } catch (error) {
          expect(error).toBeInstanceOf(PodwireError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('an answer is a status byte and the body', () => {
  expect(encodeAnswer(true, '')).toEqual(bytes('0'));
  expect(encodeAnswer(false, '{"msg":"ü"}')).toEqual(Buffer.from('1{"msg":"ü"}'));
});
