/** Words of command lines as values. */
import { parseAddress } from '@podwire/addresses';
import { InvalidArgumentError } from 'commander';

export const onOff = ['on', 'off'] as const;

export const isOn = (word: string | undefined): boolean | undefined =>
  word === undefined ? undefined : word === 'on';

/** `a,b` and options given several times; an empty word is an empty list. */
export function readList(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').filter((word) => word !== '')];
}

export function readCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000_000) return count;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

export type Limit = number | 'none';

export function readLimit(text: string): Limit {
  return text === 'none' ? text : readCount(text);
}

export function readIp(text: string): string {
  try {
    parseAddress(text);
    return text;
  } catch {
    throw new InvalidArgumentError('It must be an IPv4 or IPv6 address.');
  }
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `15m`, `24h`, as in configurations. */
export function readDuration(text: string): number {
  const { digits, unit } = /^(?<digits>[1-9]\d{0,8})(?<unit>ms|s|m|h)$/.exec(text)?.groups ?? {};
  if (digits === undefined || unit === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 30s, 15m or 24h.');
  }
  return Number(digits) * units[unit]!;
}

/** The object without fields that are undefined. */
export function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
