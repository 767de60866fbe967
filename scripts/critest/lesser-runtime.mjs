/**
 * Privileged containers ask for every capability that the kernel knows. Where this machine itself lacks some, runc fails.
 * Docker gets a runtime that takes those away from what is asked, and is runc in all else.
 */
import fs from 'node:fs';
import path from 'node:path';

/** In the order of their numbers (capability.h). */
const capabilities = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP'],
  ...[
    'LINUX_IMMUTABLE',
    'NET_BIND_SERVICE',
    'NET_BROADCAST',
    'NET_ADMIN',
    'NET_RAW',
    'IPC_LOCK',
    'IPC_OWNER',
  ],
  ...[
    'SYS_MODULE',
    'SYS_RAWIO',
    'SYS_CHROOT',
    'SYS_PTRACE',
    'SYS_PACCT',
    'SYS_ADMIN',
    'SYS_BOOT',
    'SYS_NICE',
  ],
  ...[
    'SYS_RESOURCE',
    'SYS_TIME',
    'SYS_TTY_CONFIG',
    'MKNOD',
    'LEASE',
    'AUDIT_WRITE',
    'AUDIT_CONTROL',
    'SETFCAP',
  ],
  ...['MAC_OVERRIDE', 'MAC_ADMIN', 'SYSLOG', 'WAKE_ALARM', 'BLOCK_SUSPEND', 'AUDIT_READ', 'PERFMON', 'BPF'],
  'CHECKPOINT_RESTORE',
];

/** Capabilities that the kernel knows and this process cannot hand on. */
export function missingCapabilities() {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const bounding = BigInt(`0x${/^CapBnd:\s*(\S+)$/m.exec(status)[1]}`);
  const last = Number(fs.readFileSync('/proc/sys/kernel/cap_last_cap', 'utf8'));
  return capabilities.slice(0, last + 1).filter((_, number) => (bounding & (1n << BigInt(number))) === 0n);
}

/** Makes it the default of a running Docker Engine. */
export async function useLesserRuntime(docker) {
  const missing = missingCapabilities();
  if (missing.length === 0) return;
  const file = path.join(docker.directory, 'lesser-runc');
  fs.writeFileSync(file, script(missing), { mode: 0o755 });
  const config = { runtimes: { lesser: { path: file } }, 'default-runtime': 'lesser' };
  fs.writeFileSync(path.join(docker.directory, 'daemon.json'), JSON.stringify(config));
  process.kill(Number(fs.readFileSync(path.join(docker.directory, 'docker.pid'), 'utf8')), 'SIGHUP');
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const { body } = await docker.call('GET', '/info');
    if (JSON.parse(body).DefaultRuntime === 'lesser') return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('Docker Engine did not take the runtime');
}

/** runc reads a bundle's config.json, or for a further program the file after `--process`. */
const script = (missing) => `#!/bin/sh
before=
for word in "$@"; do
  case "$before" in
    --bundle) file="$word/config.json" ;;
    --process) file="$word" ;;
    *) file= ;;
  esac
  if [ -n "$file" ]; then
    for name in ${missing.join(' ')}; do
      sed -i -e "s/\\"CAP_$name\\",//g" -e "s/,\\"CAP_$name\\"//g" -e "s/\\"CAP_$name\\"//g" "$file"
    done
  fi
  before="$word"
done
exec runc "$@"
`;
