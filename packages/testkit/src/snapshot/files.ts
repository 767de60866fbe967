import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Parameters of a link that networking software likes to change. Each read costs some microseconds, hence a choice. */
const linkParameters = {
  'ipv4/conf': [
    ...['accept_local', 'accept_redirects', 'arp_announce', 'arp_ignore', 'arp_notify', 'disable_policy'],
    ...['forwarding', 'proxy_arp', 'route_localnet', 'rp_filter', 'send_redirects'],
  ],
  'ipv6/conf': ['accept_dad', 'accept_ra', 'disable_ipv6', 'forwarding', 'keep_addr_on_down', 'proxy_ndp'],
  'ipv4/neigh': ['proxy_delay'],
  'ipv6/neigh': ['proxy_delay'],
} as const;
const nodeParameters = {
  ipv4: [
    'ip_forward',
    'ip_local_port_range',
    'ip_nonlocal_bind',
    'ip_unprivileged_port_start',
    'ping_group_range',
  ],
  ipv6: ['bindv6only', 'ip_nonlocal_bind'],
  netfilter: ['nf_conntrack_tcp_be_liberal'],
  bridge: ['bridge-nf-call-iptables', 'bridge-nf-call-ip6tables'],
} as const;

/** Reads the parameters of the namespace that the caller is in: its own, `all`, `default` and the named links. */
export function readSysctls(links: readonly string[]): Record<string, Record<string, string>> {
  const result: Record<string, Record<string, string>> = {};
  for (const [group, names] of Object.entries(nodeParameters)) result[group] = readParameters(group, names);
  for (const link of ['all', 'default', ...links]) {
    for (const [group, names] of Object.entries(linkParameters)) {
      const values = readParameters(`${group}/${link}`, names);
      if (Object.keys(values).length > 0) result[`${group}/${link}`] = values;
    }
  }
  return result;
}

function readParameters(group: string, names: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = readParameter(`/proc/sys/net/${group}/${name}`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

const buffer = Buffer.alloc(4096);

/** Half the cost of `readFileSync`, which asks for the size first: hundreds of these are read for each snapshot. */
function readParameter(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, 'r');
  } catch {
    return undefined; // this kernel, or this kind of link, does not have it
  }
  try {
    return buffer.toString('latin1', 0, fs.readSync(descriptor, buffer)).trimEnd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // its link died in between
    throw error;
  } finally {
    fs.closeSync(descriptor);
  }
}

const WHOLE_CONTENT = 64 * 1024;

/** Everything below the given files and directories; an absent one is no entry. Sockets and the like by kind only. */
export function readFiles(roots: readonly string[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const visit = (file: string): void => {
    const stat = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return;
    result[file] = describeFile(file, stat);
    if (stat.isDirectory()) fs.readdirSync(file).forEach((name) => visit(path.join(file, name)));
  };
  roots.forEach(visit);
  return result;
}

function describeFile(file: string, stat: fs.Stats): unknown {
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) return { kind: 'link', target: fs.readlinkSync(file) };
  if (stat.isDirectory()) return { kind: 'directory', mode };
  if (!stat.isFile()) return { kind: stat.isSocket() ? 'socket' : 'special', mode };
  const content = readWhole(file);
  if (content === undefined) return { kind: 'unreadable', mode };
  const shown =
    content.length <= WHOLE_CONTENT
      ? content.toString('utf8')
      : crypto.createHash('sha256').update(content).digest('hex');
  return { kind: 'file', mode, content: shown };
}

/** A namespace pinned by a bind mount looks like a file and cannot be read. */
function readWhole(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw error;
  }
}

/** The command line of a process, or its name for one without (a kernel thread, a zombie). */
export function describeProcess(pid: number): string | undefined {
  try {
    const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return line === '' ? `[${fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}]` : line;
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** Open descriptors of a process: target → how often. Numbers of sockets, pipes and inodes are left out. */
export function describeDescriptors(pid: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const descriptor of fs.readdirSync(`/proc/${pid}/fd`)) {
    let target: string;
    try {
      target = fs.readlinkSync(`/proc/${pid}/fd/${descriptor}`).replace(/:\[\d+\]$/, '');
    } catch {
      continue; // closed meanwhile
    }
    counts[target] = (counts[target] ?? 0) + 1;
  }
  return counts;
}
