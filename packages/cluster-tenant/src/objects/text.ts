/** Text of the fields that objects of Contiv share. */
import { tryParseAddress } from '@podwire/addresses';
import { z } from 'zod';

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const nameShape = new RegExp(`^${label}(?:\\.${label})*$`);

export interface TextRule {
  readonly longest: number;
  readonly shape: RegExp;
  /** After the field: `must be …`. */
  readonly words: string;
}

/** Looks at the length first: a shape need not be fast with long text. */
export const textOf = ({ longest, shape, words }: TextRule): z.ZodType<string> =>
  z.string().refine((text) => text.length <= longest && shape.test(text), { error: words });

const nameUpTo = (longest: number): z.ZodType<string> =>
  textOf({
    longest,
    shape: nameShape,
    words: `must be a name of letters, digits, hyphens and dots, of at most ${longest} characters`,
  });

export const name = nameUpTo(64);

/** A tag by which networks and groups are known elsewhere. */
export const tag = nameUpTo(128);

export const ipv4 = z
  .string()
  .refine((text) => tryParseAddress(text)?.family === 4, { error: 'must be an IPv4 address' });

export const ipv6 = z
  .string()
  .refine((text) => tryParseAddress(text)?.family === 6, { error: 'must be an IPv6 address' });

/** A whole number; 0 is that of a field which is not given. */
export const numberUpTo = (highest: number): z.ZodType<number> =>
  z.number().refine((value) => Number.isInteger(value) && value >= 0 && value <= highest, {
    error: `must be a whole number from 0 to ${highest}`,
  });

export const names = z
  .array(name)
  .max(1024)
  .refine((list) => new Set(list).size === list.length, { error: 'must name nothing twice' });
