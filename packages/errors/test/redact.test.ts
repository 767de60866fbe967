import { redactUrl } from '@podwire/errors';
import { expect, test } from 'vitest';

test.each([
  ['https://example.org/pods?x=1', 'https://example.org/pods?x=1'],
  ['https://user:secret@example.org/pods', 'https://example.org/pods'],
  ['http://token@[2001:db8::1]:8080/a@b', 'http://[2001:db8::1]:8080/a@b'],
  ['https://example.org/a@b', 'https://example.org/a@b'],
  ['ETCD//u:secret@host', '…@host'],
  ['/etc/pods/a.yaml', '/etc/pods/a.yaml'],
])('of %s is shown: %s', (text, shown) => {
  expect(redactUrl(text)).toBe(shown);
});
