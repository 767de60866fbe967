import type { FieldName } from './fields.js';
import type { FieldValue } from './field-value.js';

/**
 * Fields that a packet must have. As in the protocol, a field that belongs to one kind of packet needs the fields that
 * select it: `{ eth_type: 0x0800, ip_src: '10.0.0.0/8' }`.
 */
export type Match = { readonly [Name in FieldName]?: FieldValue };
