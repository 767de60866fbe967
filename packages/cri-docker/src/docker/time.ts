const pattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Nanoseconds since 1970 of an RFC 3339 time; 0 for Go's zero time (year 1) and for what is no time. */
export function parseTime(text: string | undefined): bigint {
  const [, seconds, fraction = '', zone = 'Z'] = pattern.exec(text ?? '') ?? [];
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds) || milliseconds < 0) return 0n;
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
