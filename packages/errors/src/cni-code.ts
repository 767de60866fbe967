/** The codes that the CNI specification 1.1.0 defines ("Error"), and 999, which its reference library uses. */
const specified: Readonly<Record<number, string>> = {
  1: 'incompatible CNI version',
  2: 'unsupported field in the configuration',
  3: 'container unknown; nothing needs to be cleaned up',
  4: 'invalid environment variables',
  5: 'input or output failed',
  6: 'content cannot be decoded',
  7: 'invalid network configuration',
  8: 'invalid network namespace',
  11: 'try again later',
  50: 'the plugin is not available',
  51: 'the plugin is not available, and existing containers may have limited connectivity',
  999: 'internal error',
};

/** The meaning of a CNI error code; 100 and above are the plugin's own (CNI specification 1.1.0). */
export function describeCniCode(code: number): string {
  return specified[code] ?? (code >= 100 ? 'Podwire’s own' : 'reserved by the specification');
}
