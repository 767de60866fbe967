/** The version of a network configuration. As version.c. */
import { Failure } from './failure.js';
import { type Json, wellFormed } from './json.js';

const CODE_INCOMPATIBLE = 1;
/** Of a configuration without one. */
const IMPLICIT_VERSION = '0.1.0';

/** @param undecodable the error code for a version that is no text. @throws Failure */
export function readVersion(config: Json, known: readonly string[], undecodable: number): string {
  const stated = config['cniVersion'] ?? '';
  if (typeof stated !== 'string')
    throw new Failure(undecodable, 'decoding version from network config: `cniVersion` is no string');
  const version = stated === '' ? IMPLICIT_VERSION : stated;
  if (known.includes(version)) return version;
  const supported = known.map((each) => `"${each}"`).join(' ');
  const details = `config is "${wellFormed(version)}", plugin supports [${supported}]`;
  throw new Failure(CODE_INCOMPATIBLE, 'incompatible CNI versions', details);
}
