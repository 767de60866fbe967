/** Kubernetes quantities (`500m`, `1.5Gi`, `2e3`) as whole numbers of a billionth, so that nothing is lost on the way. */

const billion = 1_000_000_000n;

const suffixes: Readonly<Record<string, readonly [numerator: bigint, denominator: bigint]>> = {
  n: [1n, billion],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
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

/** The digits are bounded: a manifest must not make the agent compute with numbers of a megabyte. */
const form = /^([+-]?)(\d{0,30})(?:\.(\d{0,30}))?(?:([eE][+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)$/;

/** @returns billionths, rounded away from zero as the API does; undefined when it is no quantity. */
export function parseQuantity(text: string): bigint | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const [numerator, denominator] = exponent === undefined ? suffixes[suffix]! : powerOfTen(exponent);
  const digits = BigInt(whole + fraction);
  const size = divideUp(digits * numerator * billion, denominator * 10n ** BigInt(fraction.length));
  return sign === '-' ? -size : size;
}

function powerOfTen(exponent: string): readonly [bigint, bigint] {
  const power = Number(exponent.slice(1));
  return power >= 0 ? [10n ** BigInt(power), 1n] : [1n, 10n ** BigInt(-power)];
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** Thousandths, as processors are counted: `1.5` → 1500. Rounded up. */
export function parseMilli(text: string): bigint | undefined {
  return roundUp(parseQuantity(text), 1_000_000n);
}

/** Whole units, as bytes are counted: `1Ki` → 1024. Rounded up. */
export function parseUnits(text: string): bigint | undefined {
  return roundUp(parseQuantity(text), billion);
}

function roundUp(billionths: bigint | undefined, by: bigint): bigint | undefined {
  if (billionths === undefined) return undefined;
  return billionths < 0n ? -divideUp(-billionths, by) : divideUp(billionths, by);
}
