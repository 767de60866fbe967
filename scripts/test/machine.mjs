/** The machine that the tests run on must be after them what it was before. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const COMMANDS = [
  ['ip', '-j', 'link'],
  ['ip', '-j', 'address'],
  ['ip', '-j', 'rule'],
  ['ip', '-j', '-6', 'rule'],
  ['ip', '-j', 'route', 'show', 'table', 'all'],
  ['ip', '-j', '-6', 'route', 'show', 'table', 'all'],
  ['nft', '-j', 'list', 'ruleset'],
];
/** Fields that change by themselves: life times run down, counters up, lists are not ordered. */
const VOLATILE = new Set([
  'valid_life_time',
  'preferred_life_time',
  'expires',
  'packets',
  'bytes',
  'metainfo',
]);
/** The kernel makes these itself, in the first namespace, when the module is loaded that some test needs first. */
const MADE_BY_MODULES = /^(ifb[01]|tunl0|sit0|gre0|gretap0|erspan0|ip6tnl0|ip6gre0|ip_vti0|ip6_vti0)$/;

const isOfModule = (item) => MADE_BY_MODULES.test(item?.ifname ?? item?.dev ?? '');
const withoutVolatile = (key, value) => (VOLATILE.has(key) ? undefined : value);

function readState([program, ...parameters]) {
  const parsed = JSON.parse(execFileSync(program, parameters, { encoding: 'utf8', timeout: 30_000 }) || '[]');
  const items = Array.isArray(parsed) ? parsed : parsed.nftables;
  return items
    .filter((item) => !isOfModule(item))
    .map((item) => JSON.stringify(item, withoutVolatile))
    .sort();
}

function readSysctls() {
  const lines = [];
  const read = (file) => {
    try {
      lines.push(`${file} = ${fs.readFileSync(file, 'utf8').trim()}`);
    } catch {
      // stable_secret cannot be read before it is set; some are for writing only.
    }
  };
  for (const family of ['ipv4', 'ipv6'])
    for (const name of fs.readdirSync(`/proc/sys/net/${family}/conf`)) {
      if (MADE_BY_MODULES.test(name)) continue;
      const folder = `/proc/sys/net/${family}/conf/${name}`;
      for (const file of fs.readdirSync(folder)) read(path.join(folder, file));
    }
  read('/proc/sys/net/ipv4/ip_forward');
  return lines.sort();
}

const listNamespaces = () => (fs.existsSync('/run/netns') ? fs.readdirSync('/run/netns') : []);

/** State of the machine's own network, and the names of its namespaces. */
export function takeMachineState() {
  const network = COMMANDS.map((command) => [command.join(' '), readState(command)]);
  return { network: [...network, ['sysctls', readSysctls()]], namespaces: listNamespaces() };
}

/** The differences, a line each. */
export function compareNetwork(before, after) {
  return before.network.flatMap(([what, was], index) => {
    const is = after.network[index][1];
    const gone = was.filter((line) => !is.includes(line)).map((line) => `- ${what}: ${line}`);
    const come = is.filter((line) => !was.includes(line)).map((line) => `+ ${what}: ${line}`);
    return [...gone, ...come];
  });
}

const isAlive = (pid) => fs.existsSync(`/proc/${pid}`);

/**
 * Namespaces that came and stayed. The names that tests give have the process id of the test in them; one whose process
 * lives belongs to another test run on this machine.
 */
export function leftNamespaces(before) {
  const come = listNamespaces().filter((name) => !before.namespaces.includes(name));
  return come.filter((name) => !(name.match(/\d+/g) ?? []).some(isAlive));
}

/** Processes whose environment has `mark`: children of the run, also those that no longer know their parent. */
export function findProcesses(mark) {
  return fs.readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return fs.readFileSync(`/proc/${pid}/environ`).includes(mark);
    } catch {
      return false;
    }
  });
}

export function describeProcess(pid) {
  try {
    return `process ${pid}: ${fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`;
  } catch {
    return `process ${pid}`;
  }
}
