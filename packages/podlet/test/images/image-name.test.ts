import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseImageName, showImageName } from '../../src/images/image-name.js';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['busybox', 'docker.io/library/busybox:latest'],
  ['busybox:1.36', 'docker.io/library/busybox:1.36'],
  ['team/app', 'docker.io/team/app:latest'],
  ['index.docker.io/busybox', 'docker.io/library/busybox:latest'],
  ['docker.io/busybox', 'docker.io/library/busybox:latest'],
  ['localhost/app', 'localhost/app:latest'],
  ['localhost:5000/a/b:c', 'localhost:5000/a/b:c'],
  ['registry.example/app', 'registry.example/app:latest'],
  ['[::1]:5000/app', '[::1]:5000/app:latest'],
  [`app@${digest}`, `docker.io/library/app@${digest}`],
  [`app:v1@${digest}`, `docker.io/library/app:v1@${digest}`],
  ['a/b/c__d-e.f', 'docker.io/a/b/c__d-e.f:latest'],
])('%s is %s', (name, full) => {
  expect(showImageName(name)).toBe(full);
  expect(showImageName(full)).toBe(full);
});

test.each([
  '',
  'Busybox',
  'a b',
  ':tag',
  'app:',
  'app:-x',
  `app:${'t'.repeat(129)}`,
  'app@sha256:short',
  `app@${digest}@${digest}`,
  'a//b',
  '/app',
  'app/',
  'registry.example:port/app',
  'a'.repeat(256),
  'a..b',
  '-app',
])('%j is no name', (name) => {
  expect(parseImageName(name)).toBeUndefined();
  expect(showImageName(name)).toBe(name);
});

test('what is composed of good parts is taken apart into them', () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const registry = fc.constantFrom('registry.example', 'localhost:5000', 'a.b.c:1', 'docker.io');
  const tag = fc.stringMatching(/^\w[\w.-]{0,10}$/);
  fc.assert(
    fc.property(
      registry,
      fc.array(part, { minLength: 2, maxLength: 4 }),
      tag,
      fc.boolean(),
      (host, parts, version, pinned) => {
        const repository = parts.join('/');
        const text = `${host}/${repository}:${version}${pinned ? `@${digest}` : ''}`;
        expect(parseImageName(text)).toEqual({
          registry: host,
          repository,
          tag: version,
          ...(pinned && { digest }),
        });
        expect(showImageName(text)).toBe(text);
      },
    ),
  );
});
