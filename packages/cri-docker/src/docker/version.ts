import { DockerError } from './error.js';
import type { VersionInfo } from './types.js';

/** The version that is asked for: Docker 20.10's, the newest that brings something needed here (stats in one shot). */
const wanted = '1.41';
/** Docker 19.03's. */
const oldest = '1.40';

/** The version of the API to speak with an engine. @throws DockerError when the engine is too old */
export function chooseVersion({ ApiVersion, MinAPIVersion, Version }: VersionInfo): string {
  if (compareVersions(ApiVersion, oldest) < 0) {
    throw new DockerError(
      0,
      `Docker Engine ${Version} speaks API ${ApiVersion}; ${oldest} (Docker 19.03) is the least that is needed`,
    );
  }
  if (compareVersions(ApiVersion, wanted) < 0) return ApiVersion;
  if (MinAPIVersion !== undefined && compareVersions(MinAPIVersion, wanted) > 0) return MinAPIVersion;
  return wanted;
}

function compareVersions(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number);
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}
