/** Bundles and the choice of events: OpenFlow 1.4.0, 7.3.9 and 7.3.10. */
import { DecodeError } from '../errors.js';
import type { BundleStep, Message } from '../message.js';
import type { SwitchEvent } from '../port-description.js';
import type { Reader, Writer } from './bytes.js';

// prettier-ignore
const steps: readonly BundleStep[] = [
  'open', 'opened', 'close', 'closed', 'commit', 'committed', 'discard', 'discarded',
];
/** All or nothing, and in order. */
export const ATOMIC_ORDERED = 3;

type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;

export function writeBundleControl(writer: Writer, { bundle, step }: Of<'bundle_control'>): void {
  writer.u32(bundle).u16(steps.indexOf(step)).u16(ATOMIC_ORDERED);
}

export function readBundleControl(reader: Reader): Of<'bundle_control'> {
  const [bundle, number, flags] = [reader.u32(), reader.u16(), reader.u16()];
  const step = steps[number];
  if (step === undefined) throw new DecodeError('an unknown step of a bundle', 'OFPBFC_BAD_TYPE');
  // Answers, which have odd numbers, repeat no flags.
  if (number % 2 === 0 && flags !== ATOMIC_ORDERED)
    throw new DecodeError(`a bundle with the flags ${flags}`, 'OFPBFC_BAD_FLAGS');
  return { type: 'bundle_control', bundle, step };
}

/** Types of properties, for connections of any role but slave, and a bit for each reason that there is. */
const properties: readonly (readonly [SwitchEvent['type'], type: number, reasons: number])[] = [
  ['packet_in', 1, 0x3f],
  ['port_status', 3, 0x7],
  ['flow_removed', 5, 0x3f],
];

export function writeSetAsync(writer: Writer, { events }: Of<'set_async'>): void {
  for (const [name, type, reasons] of properties)
    writer
      .u16(type)
      .u16(8)
      .u32(events.includes(name) ? reasons : 0);
}

export function readSetAsync(reader: Reader): Of<'set_async'> {
  const events: SwitchEvent['type'][] = [];
  while (reader.remaining > 0) {
    const type = reader.u16();
    const mask = reader.skip(2).u32();
    events.push(...properties.filter(([, own]) => own === type && mask !== 0).map(([name]) => name));
  }
  return { type: 'set_async', events };
}
