import { CniError, errorCodes } from './error.js';

/** Every released version of the specification, oldest first. */
export const supportedVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

/** A released version of the CNI specification. */
export type CniVersion = (typeof supportedVersions)[number];

/** The newest version this library speaks. */
export const currentVersion = '1.1.0' satisfies CniVersion;

/** The version of a configuration whose `cniVersion` is absent or empty: the field came with 0.2.0, so its absence means 0.1.0. */
export const implicitVersion = '0.1.0' satisfies CniVersion;

/** True when `text` is exactly a released version. Versions are compared as text here: `1.1` is not `1.1.0`. */
export function isSupportedVersion(text: string): text is CniVersion {
  return (supportedVersions as readonly string[]).includes(text);
}

/**
 * Reads `major.minor.micro`. Missing parts are 0 and an empty text is 0.1.0.
 * @throws CniError code 7 when a part is no decimal number or there are more than three.
 */
export function parseVersion(text: string): readonly [major: number, minor: number, micro: number] {
  const match = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$/.exec(text === '' ? implicitVersion : text);
  if (match === null) {
    throw new CniError(
      errorCodes.invalidNetworkConfig,
      `"${text}" is no CNI version (want major.minor.micro)`,
    );
  }
  return [Number(match[1]), Number(match[2] ?? 0), Number(match[3] ?? 0)];
}

/**
 * Orders two versions by number, as {@link parseVersion} reads them: negative when `a` is older, 0 when equal.
 * @throws CniError code 7 when one of them is malformed.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** True when `version` is `minimum` or newer. @throws CniError code 7 when one of them is malformed. */
export function isAtLeast(version: string, minimum: CniVersion): boolean {
  return compareVersions(version, minimum) >= 0;
}

/** The versions that a network configuration names (specification, section 1, "Version considerations"). */
export interface VersionChoice {
  readonly cniVersion?: string;
  readonly cniVersions?: readonly string[];
}

/**
 * Chooses the version to speak for a network: the newest of `cniVersions` and `cniVersion` that this library knows, and,
 * when `pluginVersions` is given, that is in it too. Newer versions than ours are passed over.
 * @throws CniError code 7 for a malformed entry, code 1 when nothing is left to choose from.
 */
export function negotiateVersion(choice: VersionChoice, pluginVersions?: readonly string[]): CniVersion {
  const own = choice.cniVersion ?? '';
  const offered =
    choice.cniVersions === undefined ? [own || implicitVersion] : withOwn(choice.cniVersions, own);
  for (const version of offered) parseVersion(version);
  const usable = offered.filter(isSupportedVersion).filter((v) => pluginVersions?.includes(v) ?? true);
  const best = usable.toSorted(compareVersions).at(-1);
  if (best !== undefined) return best;
  throw incompatibleVersion(offered, pluginVersions ?? supportedVersions);
}

function withOwn(versions: readonly string[], own: string): readonly string[] {
  return own === '' ? versions : [...versions, own];
}

/** The error of code 1, with both lists in its details as the specification's section 5, "Error", asks. */
export function incompatibleVersion(asked: readonly string[], supported: readonly string[]): CniError {
  return new CniError(errorCodes.incompatibleVersion, 'incompatible CNI versions', {
    details: `config is "${asked.join('", "')}", plugin supports ["${supported.join('", "')}"]`,
  });
}
