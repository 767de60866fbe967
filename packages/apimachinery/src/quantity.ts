/** Factors as fractions of whole numbers; binary and decimal as Kubernetes has them. */
const suffixes: Readonly<Record<string, readonly [times: bigint, per: bigint]>> = {
  n: [1n, 10n ** 9n],
  u: [1n, 10n ** 6n],
  m: [1n, 10n ** 3n],
  '': [1n, 1n],
  k: [10n ** 3n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
};

const pattern = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/;

/**
 * A quantity of Kubernetes (`10M`, `1.5Gi`, `3e6`, `500m`) as a whole number, rounded away from zero as
 * `resource.Quantity.Value()` does. Undefined for text that is none, or is longer than anything sensible.
 * @param parts in how many parts a unit is counted: 1000n gives thousandths, as CPUs are counted in
 */
export function parseQuantity(text: string, parts = 1n): bigint | undefined {
  const match = text.length > 64 ? null : pattern.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = '', suffix = '', exponent] = match;
  const [whole = '', decimals = ''] = digits.split('.');
  const [times, per] = exponent === undefined ? suffixes[suffix]! : powerOfTen(Number(exponent));
  const numerator = BigInt(whole + decimals || '0') * times * parts;
  const denominator = per * 10n ** BigInt(decimals.length);
  const rounded = (numerator + denominator - 1n) / denominator;
  return sign === '-' ? -rounded : rounded;
}

function powerOfTen(exponent: number): readonly [bigint, bigint] {
  return exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];
}
