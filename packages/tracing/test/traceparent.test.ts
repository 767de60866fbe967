import { formatTraceparent, noTracer, parseTraceparent } from '@podwire/tracing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test('the example of the recommendation is read and written', () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId });
  expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId });
  expect(formatTraceparent({ traceId, spanId })).toBe(`00-${traceId}-${spanId}-01`);
});

test('a later version is read as far as it is known', () => {
  expect(parseTraceparent(`cc-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId });
  expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-will-come`)).toEqual({ traceId, spanId });
});

test.each([
  undefined,
  '',
  'ff-' + `${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `cc-${traceId}-${spanId}-01.more`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-1`,
  `0-${traceId}-${spanId}-01`,
  ` 00-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\n`,
  `00_${traceId}_${spanId}_01`,
  `00-${traceId.slice(1)}-${spanId}-01`,
])('%j is invalid', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test('the context of a tracer that is switched off does not travel', () => {
  expect(formatTraceparent(noTracer.start('x').context)).toBeUndefined();
});

test('whatever is written is read back, and no text makes it throw', () => {
  const hex = (length: number) =>
    fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((text) => !/^0+$/.test(text));
  fc.assert(
    fc.property(hex(32), hex(16), (trace, span) => {
      const context = { traceId: trace, spanId: span };
      expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void parseTraceparent(text)));
});
