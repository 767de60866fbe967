/** Cases that are left out and cases that fail on the server's own account, with the reasons. */
import { missingCapabilities } from './lesser-runtime.mjs';

const all = ['docker', 'embedded', 'containerd'];
const engines = ['docker', 'containerd'];

/** [which servers, pattern of the name, why] */
const left = () => [
  [engines, /image with digest/, 'wants the very image that a registry of the Internet has'],
  [['embedded'], /Image Manager/, 'no images'],
  [all, /MaskedPaths/, "covers the file /bin/ls, and the shell of Debian's busybox has an `ls` of its own"],
  [all, /benchmark/, 'measures and tests nothing'],
  [
    ['embedded'],
    /SeccompProfilePath .*(localhost\/profile|an seccomp profile|docker\/default on)/,
    'no seccomp',
  ],
  [['embedded'], /'rshared'/, 'no bidirectional mounts'],
  ...(missingCapabilities().length === 0
    ? []
    : [
        [
          ['containerd'],
          /Privileged is true|adding ALL capabilities|when privileged|Mount Propagation/,
          'wants every capability of the kernel, and this machine has not got them',
        ],
      ]),
];

/** The same for cases that run and fail. */
const failures = [];

const chosen = (rows, runtime) =>
  rows.filter(([which]) => which.includes(runtime)).map(([, pattern, why]) => ({ pattern, why }));

export const leftOut = (runtime) => chosen(left(), runtime);
export const knownFailures = (runtime) => chosen(failures, runtime);
