/** A packet by its fields, as tables see it and actions change it. */
import { parseFieldValue, formatFieldValue, type FieldValue } from '../../field-value.js';
import { fieldOf, fields, type FieldName } from '../../fields.js';
import type { KnownFields } from '../../match.js';
import { isAllowed, type Lookup } from '../../prerequisites.js';
import { spanOf, type Subfield } from '../../subfield.js';

/** Fields of a packet, exact; those that are absent are zero. */
export type PacketFields = KnownFields;

const PRESENT = 0x1000n;
const shortMask = 0xffffn;

/** Registers that a wide one consists of, the first with the high bits. */
function partsOf(name: FieldName): readonly FieldName[] | undefined {
  const [, kind, index] = /^(xx?reg)(\d)$/.exec(name) ?? [];
  if (kind === undefined) return undefined;
  const count = kind === 'xreg' ? 2 : 4;
  return [...Array(count).keys()].map((part) => `reg${count * Number(index) + part}` as FieldName);
}

export class Packet {
  /** Fields as the switch knows them. */
  readonly #fields: Map<FieldName, bigint>;
  /** Fields that translation has changed since, which the switch learns when the packet comes back from tracking. */
  readonly #translated: Map<FieldName, bigint>;
  /** Tags, the outer one first; 16 bits with that of presence. */
  #tags: readonly bigint[];
  readonly stack: bigint[];

  private constructor(
    known: Map<FieldName, bigint>,
    translated: Map<FieldName, bigint>,
    tags: readonly bigint[],
    stack: bigint[],
  ) {
    this.#fields = known;
    this.#translated = translated;
    this.#tags = tags;
    this.stack = stack;
  }

  /** @throws RangeError when a value is none of its field */
  static of(packet: PacketFields): Packet {
    const created = new Packet(new Map(), new Map(), [], []);
    for (const [name, value] of Object.entries(packet) as [FieldName, FieldValue][]) {
      const { value: number } = parseFieldValue(name, value);
      if ((name === 'vlan_vid' || name === 'vlan_tci') && number === 0n) continue;
      if (name.startsWith('vlan_') && created.#tags.length === 0) created.#tags = [PRESENT];
      created.set(name, number);
    }
    return created;
  }

  copy(): Packet {
    return new Packet(new Map(this.#fields), new Map(this.#translated), this.#tags, [...this.stack]);
  }

  /** Takes the fields of another packet. */
  restore(other: Packet): void {
    this.#fields.clear();
    for (const [name, value] of other.#fields) this.#fields.set(name, value);
    this.#tags = other.#tags;
  }

  get tagCount(): number {
    return this.#tags.length;
  }

  pushTag(): void {
    this.#tags = [PRESENT, ...this.#tags];
  }

  popTag(): void {
    this.#tags = this.#tags.slice(1);
  }

  get(name: FieldName): bigint {
    const parts = partsOf(name);
    if (parts !== undefined) return parts.reduce((value, part) => (value << 32n) | this.get(part), 0n);
    const tag = this.#tags[0] ?? 0n;
    switch (name) {
      case 'in_port_nxm':
        return this.get('in_port') & shortMask;
      case 'vlan_tci':
        return tag;
      case 'vlan_vid':
        return tag & 0x1fffn;
      case 'vlan_pcp':
        return tag >> 13n;
      case 'nw_tos':
        return this.get('ip_dscp') << 2n;
      default:
        return this.#fields.get(name) ?? 0n;
    }
  }

  set(name: FieldName, value: bigint): void {
    const parts = partsOf(name);
    if (parts !== undefined) {
      for (const [index, part] of parts.toReversed().entries())
        this.set(part, (value >> BigInt(32 * index)) & 0xffff_ffffn);
      return;
    }
    const tag = this.#tags[0] ?? 0n;
    switch (name) {
      case 'in_port_nxm':
        return void this.#fields.set('in_port', value >= 0xfff8n ? 0xffff0000n | value : value);
      case 'vlan_tci':
        return this.#setTag(value);
      case 'vlan_vid':
        return this.#setTag((tag & 0xe000n) | (value & 0xfffn) | PRESENT);
      case 'vlan_pcp':
        return this.#setTag((tag & 0x1fffn) | (value << 13n) | PRESENT);
      case 'nw_tos':
        return void this.#fields.set('ip_dscp', value >> 2n);
      default:
        this.#translated.delete(name);
        this.#fields.set(name, value);
    }
  }

  /** A tag without the bit of presence is none. */
  #setTag(tag: bigint): void {
    this.#tags = (tag & PRESENT) === 0n ? this.#tags.slice(1) : [tag, ...this.#tags.slice(1)];
  }

  /** True when packets of this kind have the field. */
  has(name: FieldName): boolean {
    if (name === 'vlan_vid' || name === 'vlan_pcp') return this.#tags.length > 0;
    return isAllowed(fieldOf(name).requires, this.lookup);
  }

  readonly lookup: Lookup = (name) => ({ value: this.get(name), mask: fieldOf(name).valid });

  read(part: Subfield): bigint {
    const { start, bits } = spanOf(part);
    return (this.get(part.field) >> BigInt(start)) & ((1n << BigInt(bits)) - 1n);
  }

  write(part: Subfield, value: bigint): void {
    const { start, bits } = spanOf(part);
    const mask = ((1n << BigInt(bits)) - 1n) << BigInt(start);
    this.set(part.field, (this.get(part.field) & ~mask) | ((value << BigInt(start)) & mask));
  }

  translate(name: FieldName, value: bigint): void {
    this.#translated.set(name, value);
  }

  /** The field as the packet has it on the wire. */
  real(name: FieldName): bigint {
    return this.#translated.get(name) ?? this.get(name);
  }

  /** Makes known what translation has changed. */
  learn(): void {
    for (const [name, value] of this.#translated) this.#fields.set(name, value);
    this.#translated.clear();
  }

  /** The fields that are not zero, as on the wire. */
  describe(): PacketFields {
    const entries = fields
      .filter(({ name }) => partsOf(name) === undefined && !derived.includes(name))
      .map(({ name, valid }) => ({ name, masked: { value: this.real(name), mask: valid } }))
      .filter(({ masked }) => masked.value !== 0n);
    return Object.fromEntries(entries.map(({ name, masked }) => [name, formatFieldValue(name, masked)]));
  }
}

/** Other names of what stands in the table already. */
const derived: readonly FieldName[] = ['in_port_nxm', 'vlan_tci', 'nw_tos'];
