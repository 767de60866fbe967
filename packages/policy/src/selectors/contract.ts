/** The type belongs to the reader of Calico's grammar, which the schemas of objects need. */
export type { Selector } from '@podwire/objects';
