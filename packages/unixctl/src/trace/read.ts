/** Reads what `ofproto/trace` prints. It is made for people, so what is new in it is kept as text and changes nothing else. */
import type { Resumption, Trace, TraceAction, TraceNote, TracePass, TraceStep } from './types.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenAction = TraceAction & { readonly notes: TraceNote[] };
type OpenStep = TraceStep & { readonly actions: OpenAction[] };

/** A pass of which not all lines are read. */
interface OpenPass extends Mutable<Omit<TracePass, 'resumed' | 'steps' | 'others'>> {
  resumed?: Mutable<Resumption>;
  readonly steps: OpenStep[];
  /** Those that may go on, the innermost last: after a `resubmit` the flow above does. */
  open: OpenStep[];
  readonly others: string[];
  /** That of the next step. */
  bridge: string;
  /** The one that notes are about. */
  action?: OpenAction;
}

const startPass = (): OpenPass => ({
  ...{ flow: '', finalFlow: '', megaflow: '', datapathActions: '' },
  ...{ steps: [], open: [], others: [], bridge: '' },
});

function endPass({ bridge: _, action: __, open: ___, ...pass }: OpenPass): TracePass {
  return pass;
}

/** Reads a line into the pass, unless it is of another kind. */
type Reader = (pass: OpenPass, line: string) => boolean;

/** The first one that knows a line takes it. */
const readers: readonly Reader[] = [
  readBlank,
  readValue,
  readFailure,
  readBridge,
  readResumption,
  readStep,
  readNote,
  readAction,
];

/** @param text the answer to `ofproto/trace`; any text is read */
export function readTrace(text: string): Trace {
  const passes = [startPass()];
  for (const line of text.split('\n')) {
    if (isResumption(line) && passes.at(-1)!.flow !== '') passes.push(startPass());
    const pass = passes.at(-1)!;
    if (!readers.some((read) => read(pass, line))) pass.others.push(line);
  }
  return { passes: passes.map(endPass) };
}

/** A line around the heading of a pass, or below the name of a bridge, has no content. */
function readBlank(_: OpenPass, line: string): boolean {
  return /^(|=+|-+)$/.test(line.trim());
}

const values = {
  Flow: 'flow',
  'Final flow': 'finalFlow',
  Megaflow: 'megaflow',
  'Datapath actions': 'datapathActions',
} as const;

function readValue(pass: OpenPass, line: string): boolean {
  const [, name = '', value = ''] = /^(Flow|Final flow|Megaflow|Datapath actions): (.*)$/.exec(line) ?? [];
  if (name === '') return false;
  const key = values[name as keyof typeof values];
  pass[key] = key === 'finalFlow' && value === 'unchanged' ? pass.flow : value;
  return true;
}

function readFailure(pass: OpenPass, line: string): boolean {
  const failure = /^Translation failed \((.*)\), packet is dropped\.$/.exec(line)?.[1];
  if (failure !== undefined) pass.failure = failure;
  return failure !== undefined;
}

function readBridge(pass: OpenPass, line: string): boolean {
  const bridge = /^bridge\("(.*)"\)$/.exec(line)?.[1];
  if (bridge !== undefined) pass.bridge = bridge;
  return bridge !== undefined;
}

const resumption = /^recirc\((0x[0-9a-f]+)\)(?: - (.*))?$/;
const isResumption = (line: string): boolean => resumption.test(line);

/** The heading of a pass, and the first lines in it. */
function readResumption(pass: OpenPass, line: string): boolean {
  const [, recirculation, text = ''] = resumption.exec(line) ?? [];
  if (recirculation !== undefined) {
    const ctState = /\bct_state=(\S+)/.exec(text)?.[1];
    pass.resumed = { recirculation, text, ...(ctState === undefined ? {} : { ctState }) };
    return true;
  }
  if (pass.resumed === undefined || pass.steps.length > 0) return false;
  const table = /^ +Resuming from table (\d+)$/.exec(line)?.[1];
  if (table !== undefined) pass.resumed.table = Number(table);
  return table !== undefined || line.trim() === 'thaw';
}

/** Cells by which lines are indented: tables at 0, 4, 12, … with numbers in two cells; their actions at 4, 12, 20, … */
const depthOf = (indent: number): number => Math.floor((indent + 4) / 8);
const depthOfAction = (indent: number): number => Math.floor((indent - 4) / 8);

function readStep(pass: OpenPass, line: string): boolean {
  const [, indent = '', table, found = ''] = /^( *)(\d+)\. (.*)$/.exec(line) ?? [];
  if (table === undefined) return false;
  const depth = depthOf(indent.length);
  const step = { bridge: pass.bridge, table: Number(table), depth, ...readFound(found), actions: [] };
  pass.open = [...pass.open.filter((each) => each.depth < depth), step];
  pass.steps.push(step);
  return true;
}

/** `tcp,tp_dst=80, priority 100, cookie 0x5`; `priority 0`; `No match.` */
function readFound(text: string): Pick<TraceStep, 'match' | 'priority' | 'cookie' | 'miss'> {
  const [, match = '', priority, cookie] =
    /^(?:(.*), )?priority (\d+)(?:, cookie (0x[0-9a-f]+))?$/.exec(text) ?? [];
  if (priority === undefined) return { miss: text };
  return { match, priority: Number(priority), ...(cookie === undefined ? {} : { cookie }) };
}

const notes: readonly (readonly [TraceNote['level'], RegExp])[] = [
  ['error', /^ +>>>> (.*) <<<<$/],
  ['warning', /^ +>> (.*)$/],
  ['detail', /^ +-> (.*)$/],
];

/** Belongs to the action above it. */
function readNote(pass: OpenPass, line: string): boolean {
  for (const [level, pattern] of notes) {
    const text = pattern.exec(line)?.[1];
    if (text === undefined || pass.action === undefined) continue;
    pass.action.notes.push({ level, text });
    return true;
  }
  return false;
}

/** `--. Executing action set:` stands where a table does, and is part of the flow above. */
function readAction(pass: OpenPass, line: string): boolean {
  const indent = /^ */.exec(line)![0].length;
  const depth = line.startsWith('--. ', indent) ? depthOf(indent) : depthOfAction(indent);
  const open = pass.open.filter((each) => each.depth <= depth);
  if (open.length === 0 || pass.finalFlow !== '') return false;
  pass.action = { text: line.trim(), notes: [] };
  open.at(-1)!.actions.push(pass.action);
  pass.open = open;
  return true;
}
