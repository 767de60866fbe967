/**
 * The latest inputs of policy, in a file: an agent that starts while its store is away goes on with them. Each change
 * is a line that is written before the change comes into force, so the file is never older than the kernel's table,
 * whenever the agent is killed.
 */
import { describeError } from '@podwire/errors';
import { type Clock, Workqueue } from '@podwire/platform';
import type { InputChange } from '@podwire/policy';
import type { StateFiles } from '../../cluster/state-files.js';
import type { Log } from '../../log.js';

export interface SavedInputsOptions {
  readonly files: StateFiles;
  /** Pods of this node are in the endpoint records. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
}

const fileName = 'policy-inputs.jsonl';
const header = `${JSON.stringify({ version: 1 })}\n`;
const queueKey = 'inputs';
/** The file is written anew when it has more lines than this, and twice as many as there are values. */
const fewLines = 1_000;
/** Milliseconds of rest. */
const delay = 1_000;
const backoff = { first: 1_000, longest: 30_000 } as const;

export class SavedInputs {
  readonly #options: SavedInputsOptions;
  readonly #queue: Workqueue<typeof queueKey>;
  readonly #values = new Map<string, InputChange>();
  #lines = 0;
  #isComplete = false;
  /** The file could not be written, and says nothing. */
  #isLost = false;
  /** From the file, and not told by a source yet. */
  #restored = new Map<string, InputChange>();

  constructor(options: SavedInputsOptions) {
    this.#options = options;
    this.#queue = new Workqueue({
      reconcile: () => Promise.resolve(this.#writeAll()),
      onError: (err) => options.log.warn({ err }, 'what policy is made of could not be saved'),
      clock: options.clock,
      delay,
      backoff,
    });
  }

  /**
   * Before they come into force.
   *
   * @throws PodwireError RECORD_IO when the file can neither be added to nor be emptied
   */
  note(inputs: readonly InputChange[]): void {
    const others = inputs.filter((input) => !this.#isOwnPod(input));
    for (const input of others) {
      const key = keyOf(input);
      this.#restored.delete(key);
      if (input.value === undefined) this.#values.delete(key);
      else this.#values.set(key, input);
    }
    // As long as not everything is known nothing comes into force, and the file of the earlier life stays.
    if (others.length > 0 && this.#isComplete) this.#append(others);
  }

  /** @returns what an earlier life has left; undefined where that is not certain */
  restore(): readonly InputChange[] | undefined {
    const { files, log } = this.#options;
    try {
      const read = parseInputs(files.read(fileName));
      if (read === undefined) return undefined;
      const inputs = read.filter((input) => !this.#values.has(keyOf(input)));
      this.#restored = new Map(inputs.map((input) => [keyOf(input), input]));
      for (const input of inputs) this.#values.set(keyOf(input), input);
      this.#complete();
      return inputs;
    } catch (err) {
      log.warn({ err: describeError(err) }, 'what policy was made of cannot be read');
      return undefined;
    }
  }

  /** All sources have told what they have: what is left of the file is gone. */
  takeGone(): readonly InputChange[] {
    const gone = [...this.#restored.values()].map(({ topic, key }) => ({ topic, key, value: undefined }));
    this.#restored.clear();
    for (const input of gone) this.#values.delete(keyOf(input));
    this.#complete();
    return gone;
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  #isOwnPod({ topic, key, value }: InputChange): boolean {
    if (topic !== 'pod') return false;
    return value === undefined ? !this.#values.has(`pod ${key}`) : value.node === this.#options.node;
  }

  #complete(): void {
    this.#isComplete = true;
    this.#orEmpty(() => this.#writeAll());
  }

  #append(inputs: readonly InputChange[]): void {
    this.#lines += inputs.length;
    if (this.#isLost || this.#lines > Math.max(fewLines, 2 * this.#values.size)) this.#queue.add(queueKey);
    if (!this.#isLost) this.#orEmpty(() => this.#options.files.append(fileName, formatInputs(inputs)));
  }

  #writeAll(): void {
    this.#options.files.write(fileName, header + formatInputs([...this.#values.values()]));
    this.#lines = this.#values.size;
    this.#isLost = false;
  }

  /** A file without the last change would open what that change has closed: rather none. */
  #orEmpty(write: () => void): void {
    try {
      write();
    } catch (err) {
      this.#options.log.warn({ err }, 'what policy is made of could not be saved');
      this.#options.files.write(fileName, '');
      this.#isLost = true;
      this.#queue.add(queueKey);
    }
  }
}

const keyOf = ({ topic, key }: InputChange): string => `${topic} ${key}`;

const formatInputs = (inputs: readonly InputChange[]): string =>
  inputs.map((input) => `${JSON.stringify(input)}\n`).join('');

/**
 * The last value of each key. A last line without its end was being written when the agent was killed: its change was not in force.
 *
 * @throws SyntaxError when another line is no JSON
 */
function parseInputs(text: string | undefined): readonly InputChange[] | undefined {
  if (text?.startsWith(header) !== true) return undefined;
  const lines = text.slice(header.length, text.lastIndexOf('\n') + 1).split('\n');
  const values = new Map<string, InputChange>();
  for (const line of lines.filter((line) => line !== '')) {
    const input = JSON.parse(line) as InputChange;
    if (input.value === undefined) values.delete(keyOf(input));
    else values.set(keyOf(input), input);
  }
  return [...values.values()];
}
