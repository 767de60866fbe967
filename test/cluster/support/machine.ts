/** State of the machine itself that a testbed could change, to be compared before and after. */
import { run } from '@podwire/testkit';
import fs from 'node:fs';

const commands = [
  ['ip', '-o', 'link', 'show'],
  ['ip', '-o', 'address', 'show'],
  ['ip', 'rule'],
  ['ip', '-6', 'rule'],
  ['ip', 'route', 'show', 'table', 'all'],
  ['ip', '-6', 'route', 'show', 'table', 'all'],
  ['nft', 'list', 'ruleset'],
] as const;

/** Life times run down, and counters up. */
const volatile = /(valid_lft|preferred_lft|expires) \S+|packets \d+ bytes \d+/g;

export async function describeMachine(): Promise<readonly string[]> {
  const outputs = await Promise.all(commands.map((argv) => run(argv)));
  const lines = outputs.flatMap((text) => text.replaceAll(volatile, '').split('\n'));
  const forwarding = fs.readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8').trim();
  return [...lines.toSorted(), `ip_forward ${forwarding}`];
}

/** Of a testbed of that name: files, mounts, and processes that name its directory. */
export function remainsOf(name: string): string[] {
  const directory = `/run/podwire-testbed/${name}`;
  const mounts = fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(directory));
  const drafts = fs.existsSync('/run/podwire-testbed') ? fs.readdirSync('/run/podwire-testbed') : [];
  return [
    ...mounts,
    ...drafts.filter((each) => each === name || each.startsWith(`.${name}.`)),
    ...processesNaming(`${directory}/`),
  ];
}

function processesNaming(text: string): string[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(text) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}
