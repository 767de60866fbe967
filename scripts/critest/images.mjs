/**
 * Stand-ins for the images that critest wants, under its names, made of Debian's busybox: the machine pulls nothing.
 * Each does what a case looks at and no more.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { nativeProgram } from '@podwire/testkit';
import { writeImage } from '@podwire/testkit/containerd';

const e2e = (name) => `registry.k8s.io/e2e-test-images/${name}`;
const staging = (name) => `gcr.io/k8s-staging-cri-tools/${name}`;
// As Go names it, since critest asks for the machine's own.
const architecture = { x64: 'amd64' }[process.arch] ?? process.arch;

const BUSYBOX = '/usr/bin/busybox';
const text = (name, content, mode = 0o644) => ({ name, content: Buffer.from(content), mode });

/** Users and groups are critest's: `www-data` and `nobody` by name, 1000 in a group of the image. */
const accounts = [
  text(
    'etc/passwd',
    [
      'root:x:0:0:root:/:/bin/sh',
      'www-data:x:33:33:www-data:/www:/bin/sh',
      'default-user:x:1000:1000::/tmp:/bin/sh',
      'nobody:x:65534:65534:nobody:/:/bin/sh',
      '',
    ].join('\n'),
  ),
  text(
    'etc/group',
    [
      'root:x:0:',
      'www-data:x:33:',
      'default-user:x:1000:',
      'group-defined-in-image:x:50000:default-user',
      'nogroup:x:65534:',
      '',
    ].join('\n'),
  ),
];

/** Applets that Debian's busybox leaves out and critest asks for. */
const missingApplets = [
  text('bin/ipcs', '#!/bin/sh\ncat /proc/sysvipc/shm\n', 0o755),
  text('bin/pgrep', '#!/bin/sh\npidof "$@"\n', 0o755),
];

/** The file tree that all of them have. */
export function baseFiles() {
  const directories = ['bin/', 'etc/', 'sbin/', 'tmp/', 'var/', 'var/run/', 'www/'].map((name) => ({ name }));
  const applets = execFileSync(BUSYBOX, ['--list'], { encoding: 'utf8', timeout: 10_000 }).trim().split('\n');
  return [
    ...directories,
    ...accounts,
    { name: 'bin/busybox', content: fs.readFileSync(BUSYBOX) },
    ...applets
      .filter((applet) => applet !== 'busybox')
      .map((applet) => ({ name: `bin/${applet}`, target: 'busybox' })),
    ...missingApplets,
    text('www/index.html', '<h1>it works</h1>\n'),
  ];
}

/** A process of that name, which is told from others by `pidof` and by its arguments, ends at SIGTERM and says who it is. */
const server = (name, port, said) =>
  text(
    `bin/${name}`,
    `#!/bin/sh
trap 'kill $!; exit 0' TERM QUIT
echo $$ > /var/run/${name}.pid
echo "${said}"
httpd -f -p ${port} -h /www &
wait
`,
    0o755,
  );

/** @returns { name, files, command } of each */
export function describeImages() {
  const base = baseFiles();
  const image = (name, command, more = []) => ({ name, files: [...base, ...more], command });
  const nginx = ['/bin/nginx', 'master process'];
  const apache = server('apache', 80, "Command line: 'httpd -D FOREGROUND'");
  return [
    image(e2e('busybox:1.29-2'), ['sh']),
    image(staging('test-image-predefined-group:latest'), ['sh']),
    image(e2e('nginx:1.14-2'), nginx, [server('nginx', 80, 'nginx')]),
    image(staging(`hostnet-nginx-${architecture}:latest`), nginx, [server('nginx', 12003, 'nginx')]),
    image(e2e('httpd:2.4.39-4'), ['/bin/apache'], [apache]),
    image(e2e('nonewprivs:1.3'), ['/bin/effective-user'], [effectiveUser()]),
  ];
}

/** Set-user-ID root, and says whom that has made it. */
function effectiveUser() {
  const sourceFile = path.join(import.meta.dirname, 'effective-user.c');
  const content = fs.readFileSync(nativeProgram('effective-user', { sourceFile }));
  return { name: 'bin/effective-user', content, mode: 0o4755 };
}

/**
 * Images that critest wants to pull. That with a digest is not here: its content would have to be the real one's.
 * Each is small, and none is like another.
 */
export function describePullable() {
  const image = (name, user) => ({
    name: staging(name),
    files: [text('name', name)],
    command: ['/none'],
    ...(user && { user }),
  });
  const same = { ...image('test-image-tags'), command: ['/same'] };
  return [
    ...['latest:latest', 'tag:test', 'tag:all', '1:latest', '2:latest', '3:latest'].map((name) =>
      image(`test-image-${name}`),
    ),
    ...[1, 2, 3].map((tag) => ({ ...same, name: `${same.name}:${tag}` })),
    image('test-image-user-uid:latest', '1002'),
    image('test-image-user-username:latest', 'www-data'),
    image('test-image-user-uid-group:latest', '1003:50000'),
    image('test-image-user-username-group:latest', 'www-data:50000'),
  ];
}

/** @returns the archives, as `docker load` and `ctr images import` take them */
export const buildImages = () => describeImages().map(writeImage);
