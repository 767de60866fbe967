/**
 * A file with the facts that each scope was applied from: an agent that starts without the store finds there what in the kernel is
 * its own. One line for each change: with thousands of scopes the whole would be written again and again.
 */
import type { Log } from '@podwire/platform';

/** @throws (all) when the disk does */
export interface JournalFile {
  /** Undefined when there is none. */
  read(): string | undefined;
  /** Replaces the file as a whole. */
  write(text: string): void;
  append(text: string): void;
}

export interface JournalOptions<T> {
  readonly file: JournalFile;
  /** Reads the data of a line; undefined when it is damaged. */
  readonly parse: (line: unknown) => JournalLine<T> | undefined;
  /** The log's message when the disk is full. */
  readonly failure: string;
  readonly log: Log;
}

/** `value` is absent when it is gone. */
export interface JournalLine<T> {
  readonly name: string;
  readonly value?: T;
}

export interface Journal<T> {
  /** Facts that the last run has applied, by name. */
  readonly found: ReadonlyMap<string, T>;
  /** False where the file is missing or a line is damaged: then there may have been more. */
  readonly isComplete: boolean;
  /**
   * Before something is applied, and after it was removed (`undefined`). Never throws: a full disk must not cut pods off.
   */
  note(changes: readonly (readonly [name: string, value: T | undefined])[]): void;
  /** Leaves this one out from now on. */
  forget(name: string): void;
}

/** Lines beyond twice the entries that are accepted before the file is written anew. */
const slack = 1_000;

/** @throws when the file cannot be read */
export function openJournal<T>(options: JournalOptions<T>): Journal<T> {
  return new FileJournal(options);
}

class FileJournal<T> implements Journal<T> {
  readonly found = new Map<string, T>();
  readonly isComplete: boolean;
  readonly #options: JournalOptions<T>;
  readonly #current: Map<string, string>;
  #lines = 0;
  /** A line that was torn by a crash or a full disk would merge with the next one. */
  #isWhole = false;

  constructor(options: JournalOptions<T>) {
    this.#options = options;
    const text = options.file.read() ?? '';
    const lines = text.split('\n');
    const parsed = lines.map((line) => this.#parse(line));
    this.isComplete = lines.length > 1 && lines.at(-1) === '' && !parsed.slice(0, -1).includes(undefined);
    for (const line of parsed) {
      if (line === undefined) continue;
      if (line.value === undefined) this.found.delete(line.name);
      else this.found.set(line.name, line.value);
    }
    this.#current = new Map([...this.found].map(([name, value]) => [name, JSON.stringify(value)]));
  }

  note(changes: readonly (readonly [name: string, value: T | undefined])[]): void {
    if (changes.length === 0) return;
    const news = changes.map(([name, value]) => this.#take(name, value)).filter((line) => line !== undefined);
    if (this.#isWhole && news.length === 0) return;
    try {
      const isLong = this.#lines + news.length > this.#current.size * 2 + slack;
      if (!this.#isWhole || isLong) this.#rewrite();
      else this.#append(news);
    } catch (err) {
      this.#options.log.error({ err }, this.#options.failure);
    }
  }

  forget(name: string): void {
    this.found.delete(name);
    this.#current.delete(name);
  }

  #parse(line: string): JournalLine<T> | undefined {
    if (line === '') return undefined;
    try {
      return this.#options.parse(JSON.parse(line));
    } catch {
      return undefined;
    }
  }

  /** Returns the line to write; most of what is applied again is unchanged. */
  #take(name: string, value: T | undefined): string | undefined {
    const text = value === undefined ? undefined : JSON.stringify(value);
    if (text === this.#current.get(name)) return undefined;
    if (text === undefined) this.#current.delete(name);
    else this.#current.set(name, text);
    return text ?? JSON.stringify({ gone: name });
  }

  #rewrite(): void {
    this.#options.file.write(inLines([...this.#current.values()]));
    this.#lines = this.#current.size;
    this.#isWhole = true;
  }

  #append(news: readonly string[]): void {
    this.#isWhole = false;
    this.#options.file.append(inLines(news));
    this.#lines += news.length;
    this.#isWhole = true;
  }
}

const inLines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');
