const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Durations in the configuration: a number with its unit, such as `500ms`, `30s`, `5m` or `1h`. */
export const durationPattern = /^(0|[1-9]\d{0,8})(ms|s|m|h)$/;

/** Milliseconds of a text that matches {@link durationPattern}. */
export function parseDuration(text: string): number {
  const match = durationPattern.exec(text);
  if (match === null) throw new RangeError(`not a duration: ${JSON.stringify(text)}`);
  return Number(match[1]) * units[match[2] as keyof typeof units];
}
