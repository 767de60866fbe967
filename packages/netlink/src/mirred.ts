import type { Attributes } from './attributes.js';
import { DecodeError } from './errors.js';
import type { PayloadWriter } from './payload.js';

/** tc-mirred(8): sends the packet, or a copy of it, out of (`egress`) or into (`ingress`) another link. */
export interface MirredAction {
  readonly kind: 'mirred';
  /** Index of the other link. */
  readonly target: number;
  readonly direction: 'egress' | 'ingress';
  /** Send a copy and go on with the packet. */
  readonly mirror?: boolean;
}

const TCA_MIRRED_PARMS = 2;
const TC_MIRRED = 28;
const TC_ACT_PIPE = 3;
const TC_ACT_STOLEN = 4;

/** TCA_EGRESS_REDIR, TCA_EGRESS_MIRROR, TCA_INGRESS_REDIR, TCA_INGRESS_MIRROR. */
const variants = [
  undefined,
  { direction: 'egress' },
  { direction: 'egress', mirror: true },
  { direction: 'ingress' },
  { direction: 'ingress', mirror: true },
] as const;

/** struct tc_mirred: index, capabilities, verdict, two counts, variant (i32 at 20), link (u32 at 24). */
export function writeMirred(writer: PayloadWriter, action: MirredAction): void {
  const parameters = Buffer.alloc(TC_MIRRED);
  const mirror = action.mirror === true;
  parameters.writeInt32LE(mirror ? TC_ACT_PIPE : TC_ACT_STOLEN, 8);
  parameters.writeInt32LE((action.direction === 'egress' ? 1 : 3) + Number(mirror), 20);
  parameters.writeUInt32LE(action.target, 24);
  writer.bytes(TCA_MIRRED_PARMS, parameters);
}

/** `undefined` for variants that are not known. @throws DecodeError */
export function readMirred(options: Attributes | undefined): MirredAction | undefined {
  const parameters = options?.bytes(TCA_MIRRED_PARMS);
  if (parameters === undefined) return undefined;
  if (parameters.length < TC_MIRRED) throw new DecodeError(`tc_mirred of ${parameters.length} bytes`);
  const variant = variants[parameters.readInt32LE(20)];
  return variant && { kind: 'mirred', target: parameters.readUInt32LE(24), ...variant };
}
