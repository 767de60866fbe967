/** How long logs may be: words of `podwire podlet`, and of `podwire up`, which hands them on. */
import { PodwireError } from '@podwire/errors';
import type { RotationPolicy } from '@podwire/podlet';
import { parseQuantity } from '@podwire/apimachinery';

export interface LogRotationWords {
  readonly containerLogMaxSize?: string;
  readonly containerLogMaxFiles?: string;
}

/** @throws PodwireError CONFIG_INVALID */
export function readLogRotation({
  containerLogMaxSize = '10Mi',
  containerLogMaxFiles = '5',
}: LogRotationWords): Required<RotationPolicy> {
  const maxBytes = parseQuantity(containerLogMaxSize);
  if (maxBytes === undefined || maxBytes < 0n)
    throw new PodwireError(
      'CONFIG_INVALID',
      '--container-log-max-size: must be a quantity such as 10Mi, or 0',
    );
  if (!/^[1-9]\d{0,3}$/.test(containerLogMaxFiles) || containerLogMaxFiles === '1')
    throw new PodwireError('CONFIG_INVALID', '--container-log-max-files: must be a number from 2 to 9999');
  return { maxBytes: Number(maxBytes), maxFiles: Number(containerLogMaxFiles) };
}
