import type { FieldName } from './fields.js';
import type { FieldValue } from './field-value.js';

/** Values of fields that the table of this library has. */
export type KnownFields = { readonly [Name in FieldName]?: FieldValue };

/**
 * Fields that a packet must have. As in the protocol, a field that belongs to one kind of packet needs the fields that
 * select it: `{ eth_type: 0x0800, ip_src: '10.0.0.0/8' }`.
 */
export interface Match extends KnownFields {
  /**
   * Fields that this library does not know, in the order in which they came: each with its OXM or NXM header, in
   * hexadecimal digits. Those of a dump are sent back as they are.
   */
  readonly raw?: readonly string[];
}
