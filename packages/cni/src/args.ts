import { CniError, errorCodes } from './error.js';

/** Pairs of `CNI_ARGS` in their order. */
export type CniArgs = readonly (readonly [key: string, value: string])[];

/**
 * Splits `K=V;K2=V2` (specification, section 2, "Parameters", `CNI_ARGS`). Every pair must have exactly one `=` and a
 * key; an empty text has no pairs.
 * @throws CniError code 4 naming the pair.
 */
export function parseCniArgs(text: string): CniArgs {
  if (text === '') return [];
  return text.split(';').map((pair) => {
    const [key, value, ...more] = pair.split('=');
    if (key === undefined || key === '' || value === undefined || more.length > 0) {
      throw new CniError(errorCodes.invalidEnvironment, `CNI_ARGS: "${pair}" is no KEY=VALUE pair`);
    }
    return [key, value] as const;
  });
}

/**
 * Joins pairs to the text of `CNI_ARGS`.
 * @throws CniError code 4 when a key is empty, or a key or value holds `;` or `=`: it would be read as something else.
 */
export function formatCniArgs(args: CniArgs): string {
  return args
    .map(([key, value]) => {
      if (key === '' || /[;=\0]/.test(key + value)) {
        throw new CniError(errorCodes.invalidEnvironment, `CNI_ARGS: "${key}=${value}" cannot be passed on`, {
          details: 'keys and values must not hold ";" or "="',
        });
      }
      return `${key}=${value}`;
    })
    .join(';');
}

/**
 * The values of the keys that a plugin knows; of two equal keys the last counts. Other keys are an error unless the
 * pairs hold `IgnoreUnknown=1` or `true` (the convention of Go's plugins).
 * @throws CniError code 4 naming the unknown keys, or for an `IgnoreUnknown` that is no boolean.
 */
export function selectCniArgs<K extends string>(
  args: CniArgs,
  known: readonly K[],
): Partial<Record<K, string>> {
  const all = new Map(args);
  const ignoreUnknown = parseFlag(all.get('IgnoreUnknown'));
  const unknown = [...all.keys()].filter((key) => key !== 'IgnoreUnknown' && !known.includes(key as K));
  if (unknown.length > 0 && !ignoreUnknown) {
    throw new CniError(errorCodes.invalidEnvironment, `CNI_ARGS: unknown keys ${unknown.join(', ')}`, {
      details: `known: ${known.join(', ')}; IgnoreUnknown=1 lets others pass`,
    });
  }
  return Object.fromEntries([...all].filter(([key]) => known.includes(key as K))) as Partial<
    Record<K, string>
  >;
}

function parseFlag(value: string | undefined): boolean {
  const text = value?.toLowerCase();
  if (text === undefined || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw new CniError(errorCodes.invalidEnvironment, `CNI_ARGS: IgnoreUnknown must be 0, 1, true or false`);
}
