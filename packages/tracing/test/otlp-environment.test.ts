import { readOtlpSettings } from '@podwire/tracing';
import { expect, test } from 'vitest';

test('nothing is switched on without an endpoint, or when the SDK is switched off', () => {
  expect(readOtlpSettings({})).toBeUndefined();
  expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBeUndefined();
  expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeUndefined();
  expect(
    readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'TRUE' }),
  ).toBeUndefined();
});

test.each([
  ['http://c:4318', 'http://c:4318/v1/traces'],
  ['http://c:4318/', 'http://c:4318/v1/traces'],
  ['https://c/otlp', 'https://c/otlp/v1/traces'],
  ['https://c/otlp/?key=1', 'https://c/otlp/v1/traces?key=1'],
])('the general endpoint %s', (general, endpoint) => {
  expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: general })).toEqual({ endpoint, headers: {} });
});

test('what is for traces goes before what is for all', () => {
  const settings = readOtlpSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20eA==, tenant=a',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'tenant=b',
    OTEL_SERVICE_NAME: 'podlet',
  });
  expect(settings).toEqual({
    endpoint: 'http://traces:4318/in',
    headers: { authorization: 'Basic eA==', tenant: 'b' },
    serviceName: 'podlet',
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'grpc://c' }, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
    /OTEL_EXPORTER_OTLP_HEADERS must be KEY=VALUE pairs with commas between them$/,
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
    /HEADERS has a broken percent/,
  ],
])('%j is refused with the name of the variable', (env, message) => {
  expect(() => readOtlpSettings(env)).toThrow(message);
});
