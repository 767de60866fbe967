/** Names for the cursor: what the completion scripts ask `podwire __complete KIND CURRENT WORDS…` for. */
import type { PodView } from '@podwire/podlet';
import type { Command } from 'commander';
import { optionsOf } from '../command.js';
import { exitCodes, type Io } from '../io.js';
import { locateDirectory, openPodApi, placesIn } from '../pods/locate.js';
import { choosePod, fullName, type PodsView } from '../pods/names.js';

/** Kinds of names that can be completed; each is a word of the scripts. */
export const nameKinds = ['pods', 'containers', 'pools', 'nodes', 'testbeds'] as const;
export type NameKind = (typeof nameKinds)[number];

/** The command line up to the cursor. */
interface Line {
  readonly io: Io;
  /** The command that is being typed, with the options that it has so far. */
  readonly command: Command;
  readonly operands: readonly string[];
  /** The word at the cursor, as far as it is typed. */
  readonly current: string;
}

export interface Completion {
  /** The program with the named command declared. */
  readonly createProgram: (io: Io, name: string | undefined) => Promise<Command>;
  /** Runs another command line. */
  readonly run: (argv: readonly string[], io: Io) => Promise<number>;
}

/** Milliseconds: a person waits for it with a key pressed. */
const patience = 2_000;

/**
 * Prints one name a line. What goes wrong is no message in the middle of a command line: there are no names then.
 * @param words kind, word at the cursor, and the words in front of it without the program's name
 * @returns the exit code
 */
export async function complete(words: readonly string[], io: Io, completion: Completion): Promise<number> {
  const [kind, current = '', ...before] = words;
  const silent: Io = { ...io, stderr: { write: () => undefined } };
  try {
    const line = { io: silent, current, ...(await readLine(silent, before, completion)) };
    const names = await findNames(kind as NameKind, line, completion);
    for (const name of names) io.stdout.write(`${name}\n`);
    return exitCodes.ok;
  } catch {
    return exitCodes.failed;
  }
}

async function readLine(
  io: Io,
  words: readonly string[],
  { createProgram }: Completion,
): Promise<Pick<Line, 'command' | 'operands'>> {
  let command = await createProgram(
    io,
    words.find((word) => !word.startsWith('-')),
  );
  let rest = words;
  for (;;) {
    // Of an option whose value is at the cursor there is nothing to read yet.
    const whole = rest.at(-1)?.startsWith('-') === true ? rest.slice(0, -1) : rest;
    const { operands } = command.parseOptions([...whole]);
    const next = command.commands.find((each) => each.name() === operands[0]);
    if (next === undefined) return { command, operands: whenPassedThrough(command, operands) };
    [command, rest] = [next, rest.slice(rest.indexOf(next.name()) + 1)];
  }
}

/** `exec POD -c C`: options behind the name are read as `exec` itself does. */
function whenPassedThrough(command: Command, operands: readonly string[]): readonly string[] {
  const [first, ...rest] = operands;
  if (command.name() !== 'exec' || first === undefined) return operands;
  return [first, ...command.parseOptions(rest).operands];
}

async function findNames(kind: NameKind, line: Line, completion: Completion): Promise<readonly string[]> {
  if (kind === 'pods') return podNames(line);
  if (kind === 'containers') return containerNames(line);
  if (kind === 'testbeds') return (await import('../testbed/choose.js')).findTestbeds(line.io);
  const argv = kind === 'pools' ? ['pool', 'list'] : ['nodes'];
  return namesInCluster(line, argv, completion);
}

async function listPods({ io, command }: Line): Promise<readonly PodView[]> {
  const { podSocket } = placesIn(locateDirectory(command, io));
  return (await openPodApi(podSocket, { timeout: patience }).get<PodsView>('/v1/pods')).pods;
}

/** Bare names where there is one pod of it, or the namespace is said; in front of a slash, or a pod's kind, all of the name. */
async function podNames(line: Line): Promise<string[]> {
  const { command, current, operands } = line;
  if (!mayHaveMore(command, operands)) return [];
  const { namespace } = optionsOf(command) as { namespace?: string };
  const pods = (await listPods(line)).filter((pod) => namespace === undefined || pod.namespace === namespace);
  const isAlone = (pod: PodView): boolean => pods.filter(({ name }) => name === pod.name).length === 1;
  const prefix = current.startsWith('pod/') ? 'pod/' : '';
  const isFull = prefix !== '' || current.includes('/');
  const names = pods.map((pod) => (isFull || !isAlone(pod) ? `${prefix}${fullName(pod)}` : pod.name));
  return [...new Set(names)].filter((name) => !operands.includes(name)).sort();
}

/** Behind the one pod that a command takes come its ports, or the program. */
function mayHaveMore(command: Command, operands: readonly string[]): boolean {
  const place = command.registeredArguments.findIndex(({ variadic }) => variadic);
  const isList = command.registeredArguments[place]?.name() !== 'argv' && place === 0;
  return isList || operands.length === 0;
}

async function containerNames(line: Line): Promise<string[]> {
  const [word] = line.operands;
  const pods = await listPods(line);
  const { namespace } = optionsOf(line.command) as { namespace?: string };
  const chosen = word === undefined ? pods : [choosePod(pods, word, namespace)];
  return [...new Set(chosen.flatMap(({ containers }) => containers.map(({ name }) => name)))];
}

/** With the store that the command line names so far. */
async function namesInCluster(
  { io, command }: Line,
  argv: readonly string[],
  { run }: Completion,
): Promise<string[]> {
  const given = optionsOf(command);
  const place = ['store', 'root', 'config'].flatMap((key) =>
    typeof given[key] === 'string' ? [`--${key}`, given[key]] : [],
  );
  let text = '';
  const sink = { write: (more: string) => void (text += more) };
  await run([...argv, ...place, '-o', 'json'], { ...io, stdout: sink });
  const [list = []] = Object.values(JSON.parse(text) as Record<string, readonly { name: string }[]>);
  return list.map(({ name }) => name);
}
