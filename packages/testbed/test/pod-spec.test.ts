import { expect, test } from 'vitest';
import {
  readAnnotationChanges,
  readAnnotations,
  readLabels,
  readPodName,
  readPorts,
} from '../src/pod-spec.js';

test.each([
  ['shop/web', { namespace: 'shop', name: 'web' }],
  ['web-0.db', { namespace: 'default', name: 'web-0.db' }],
])('the pod %s', (text, pod) => {
  expect(readPodName(text)).toEqual(pod);
});

test.each(['', '/', 'a/', '/a', 'a/b/c', 'A/b', 'a/B', 'a/../b', '../a', 'a/-b', `a/${'b'.repeat(191)}`])(
  'no pod is called %j',
  (text) => {
    expect(() => readPodName(text)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }) as Error);
  },
);

test('labels, also without a value and with a prefix', () => {
  const texts = ['app=web', 'empty=', 'example.com/tier=a.b_c-1'];
  expect(readLabels(texts)).toEqual({ app: 'web', empty: '', 'example.com/tier': 'a.b_c-1' });
  expect(readLabels([])).toEqual({});
});

test('a label called __proto__ is refused, as every name that Kubernetes has not', () => {
  expect(() => readLabels(['__proto__=x'])).toThrow('no key of a label');
});

test.each([
  [['app'], 'write KEY=VALUE'],
  [['=web'], 'write KEY=VALUE'],
  [['app=a', 'app=b'], 'given twice'],
  [['app=a b'], 'no value of a label'],
  [['app=a=b'], 'no value of a label'],
  [['a/b/c=x'], 'no key of a label'],
  [['Example.com/a=x'], 'no key of a label'],
  [[`${'a'.repeat(64)}=x`], 'no key of a label'],
  [Array.from({ length: 257 }, (_, index) => `l${index}=x`), 'at most 256 labels'],
])('labels %j are refused', (texts, why) => {
  expect(() => readLabels(texts)).toThrow(why);
});

test('annotations have any text as value', () => {
  const texts = ['ovn.kubernetes.io/ip_address=10.16.0.9', 'note=a = b\nc', 'empty='];
  expect(readAnnotations(texts)).toEqual({
    'ovn.kubernetes.io/ip_address': '10.16.0.9',
    note: 'a = b\nc',
    empty: '',
  });
});

test.each([
  [['app'], '"app" is no annotation: write KEY=VALUE'],
  [['a=1', 'a=2'], 'the annotation a is given twice'],
  [['a b=1'], 'is no key of an annotation'],
  [['__proto__=x'], 'is no key of an annotation'],
  [['a=' + 'x'.repeat(256 << 10)], 'at most 256 KiB'],
])('annotations %j are refused', (texts, why) => {
  expect(() => readAnnotations(texts)).toThrow(why);
});

test('annotations are set, and go', () => {
  expect(readAnnotationChanges(['ovn.kubernetes.io/egress_rate=10', 'a=b-', 'note-'])).toEqual({
    ...{ 'ovn.kubernetes.io/egress_rate': '10', a: 'b-' },
    note: undefined,
  });
});

test.each([
  [['note'], '"note" is no annotation: write KEY=VALUE'],
  [['note-', 'note=1'], 'the annotation note is given twice'],
  [['note-', 'note-'], 'the annotation note is given twice'],
  [['a b-'], 'is no key of an annotation'],
])('changes %j of annotations are refused', (texts, why) => {
  expect(() => readAnnotationChanges(texts)).toThrow(why);
});

test('ports', () => {
  expect(readPorts(['http:tcp:80', 'dns:UDP:53', 'dns:tcp:53'])).toEqual([
    { name: 'http', protocol: 'tcp', port: 80 },
    { name: 'dns', protocol: 'udp', port: 53 },
    { name: 'dns', protocol: 'tcp', port: 53 },
  ]);
});

test.each([
  [['http'], 'write NAME:PROTOCOL:NUMBER'],
  [['http:icmp:1'], 'write NAME:PROTOCOL:NUMBER'],
  [['http:tcp:0'], 'write NAME:PROTOCOL:NUMBER'],
  [['http:tcp:65536'], 'write NAME:PROTOCOL:NUMBER'],
  [['http:tcp:80:90'], 'write NAME:PROTOCOL:NUMBER'],
  [['80:tcp:80'], 'no name of a port'],
  [['-a:tcp:80'], 'no name of a port'],
  [['a-very-long-name:tcp:80'], 'no name of a port'],
  [['http:tcp:80', 'http:tcp:81'], 'given twice'],
])('ports %j are refused', (texts, why) => {
  expect(() => readPorts(texts)).toThrow(why);
});
