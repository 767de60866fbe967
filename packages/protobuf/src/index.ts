/**
 * Messages of Protocol Buffers (proto3), each from a table of its fields. `scripts/generate-messages.mjs` writes the tables
 * from `.proto` files.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Where each member may be missing, also in messages below. */
export type DeepPartial<T> = T extends bigint | boolean | number | string | Uint8Array | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined };

export interface MessageType<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  /**
   * Skips fields that it does not know.
   * @param depth how many messages this one is inside of
   * @throws RangeError or Error for bytes that are no message
   */
  decode(input: BinaryReader | Uint8Array, length?: number, depth?: number): T;
  /** Absent members get their defaults. */
  fromPartial(object: DeepPartial<T>): T;
}

/** How a type of values travels. */
interface Scalar<V> {
  readonly wire: WireType;
  /** The default, which is not written. */
  readonly zero: V;
  isZero(value: V): boolean;
  write(writer: BinaryWriter, value: V): unknown;
  read(reader: BinaryReader): V;
}

const isFalsy = (value: unknown): boolean => !value;

const scalar = <V>(
  wire: WireType,
  zero: V,
  write: Scalar<V>['write'],
  read: Scalar<V>['read'],
): Scalar<V> => ({ wire, zero, isZero: isFalsy, write, read });

export const string = scalar(
  WireType.LengthDelimited,
  '',
  (writer, value: string) => writer.string(value),
  (reader) => reader.string(),
);
export const bytes: Scalar<Buffer> = {
  wire: WireType.LengthDelimited,
  zero: Buffer.alloc(0),
  isZero: (value) => value.length === 0,
  write: (writer, value) => writer.bytes(value),
  // A copy: the rest of the input is not kept in memory.
  read: (reader) => Buffer.from(reader.bytes()),
};
export const bool = scalar(
  WireType.Varint,
  false,
  (writer, value: boolean) => writer.bool(value),
  (reader) => reader.bool(),
);
export const double = scalar(
  WireType.Bit64,
  0,
  (writer, value: number) => writer.double(value),
  (reader) => reader.double(),
);
export const int32 = scalar(
  WireType.Varint,
  0,
  (writer, value: number) => writer.int32(value),
  (reader) => reader.int32(),
);
export const uint32 = scalar(
  WireType.Varint,
  0,
  (writer, value: number) => writer.uint32(value),
  (reader) => reader.uint32(),
);
export const int64 = scalar(
  WireType.Varint,
  0n,
  (writer, value: bigint) => writer.int64(value),
  (reader) => BigInt(reader.int64()),
);
export const uint64 = scalar(
  WireType.Varint,
  0n,
  (writer, value: bigint) => writer.uint64(value),
  (reader) => BigInt(reader.uint64()),
);
/** 64 bits as a number. @throws RangeError beyond what a number holds exactly */
export const int64Number = scalar(
  WireType.Varint,
  0,
  (writer, value: number) => writer.int64(value),
  (reader) => toSafeNumber(reader.int64()),
);
/** 64 bits as decimal digits: for ids. */
export const int64Text: Scalar<string> = {
  ...scalar(
    WireType.Varint,
    '0',
    (writer, value: string) => writer.int64(value),
    (reader) => reader.int64().toString(),
  ),
  isZero: (value) => value === '0',
};
export const uint64Text: Scalar<string> = {
  ...int64Text,
  write: (writer, value) => writer.uint64(value),
  read: (reader) => reader.uint64().toString(),
};
/** A number that the definition may have no name for. */
export const enumeration = <V extends number>(): Scalar<V> => int32 as unknown as Scalar<V>;

function toSafeNumber(value: bigint | string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is more than a number holds exactly`);
  return number;
}

/** One field of a message. */
export interface Field<V> {
  readonly number: number;
  /** Those of the wire's types that are read; others are skipped like unknown fields. */
  readonly wires: readonly WireType[];
  /** Value of the member while nothing was read. */
  readonly initial?: V;
  /** As `initial`, where each message needs its own. */
  readonly createInitial?: () => V;
  readonly encode: (writer: BinaryWriter, value: V) => void;
  /** @param before what was read for the field so far */
  readonly decode: (reader: BinaryReader, before: V, wire: WireType, depth: number) => V;
  readonly complete: (value: DeepPartial<V>) => V;
}

const tagOf = (number: number, wire: WireType): number => ((number << 3) | wire) >>> 0;

/** A value whose default is not written. */
export function one<V>(number: number, type: Scalar<V>): Field<V> {
  const tag = tagOf(number, type.wire);
  return {
    number,
    wires: [type.wire],
    initial: type.zero,
    encode: (writer, value) => {
      if (!type.isZero(value)) type.write(writer.uint32(tag), value);
    },
    decode: (reader) => type.read(reader),
    complete: (value) => value as V,
  };
}

/** A value that may be absent, which differs from its default. */
export function optional<V>(number: number, type: Scalar<V>): Field<V> {
  const { wires, decode, complete } = one(number, type);
  const tag = tagOf(number, type.wire);
  return {
    number,
    wires,
    encode: (writer, value) => void type.write(writer.uint32(tag), value),
    decode,
    complete,
  };
}

/** A list of values. Numbers are written together; both forms are read. */
export function many<V>(number: number, type: Scalar<V>): Field<readonly V[]> {
  const isPacked = type.wire !== WireType.LengthDelimited;
  const tag = tagOf(number, type.wire);
  return {
    number,
    wires: [type.wire, WireType.LengthDelimited],
    createInitial: () => [],
    encode: (writer, values) => {
      if (values.length === 0) return;
      if (isPacked) writer.uint32(tagOf(number, WireType.LengthDelimited)).fork();
      for (const value of values) type.write(isPacked ? writer : writer.uint32(tag), value);
      if (isPacked) writer.join();
    },
    decode: (reader, before, wire) => {
      const list = before as V[];
      if (wire === type.wire) list.push(type.read(reader));
      else for (const end = reader.uint32() + reader.pos; reader.pos < end;) list.push(type.read(reader));
      return list;
    },
    complete: (values) => [...values] as V[],
  };
}

/** A message, by a function: types may refer to each other. */
export function message<V>(number: number, type: () => MessageType<V>): Field<V> {
  const tag = tagOf(number, WireType.LengthDelimited);
  return {
    number,
    wires: [WireType.LengthDelimited],
    encode: (writer, value) => void type().encode(value, writer.uint32(tag).fork()).join(),
    decode: (reader, _, __, depth) => type().decode(reader, reader.uint32(), depth + 1),
    complete: (value) => type().fromPartial(value),
  };
}

export function messages<V>(number: number, type: () => MessageType<V>): Field<readonly V[]> {
  const { encode, wires, decode } = message(number, type);
  return {
    number,
    wires,
    createInitial: () => [],
    encode: (writer, values) => {
      for (const value of values) encode(writer, value);
    },
    decode: (reader, before, wire, depth) => {
      (before as V[]).push(decode(reader, undefined as V, wire, depth));
      return before;
    },
    complete: (values) => values.map((value) => type().fromPartial(value)),
  };
}

type TextMap = Record<string, string>;

const keyTag = tagOf(1, WireType.LengthDelimited);
const valueTag = tagOf(2, WireType.LengthDelimited);

/** A map from text to text: a list of messages with two fields. */
export function textMap(number: number): Field<Readonly<TextMap>> {
  const tag = tagOf(number, WireType.LengthDelimited);
  return {
    number,
    wires: [WireType.LengthDelimited],
    createInitial: () => ({}),
    encode: (writer, map) => {
      for (const [key, value] of Object.entries(map))
        writer.uint32(tag).fork().uint32(keyTag).string(key).uint32(valueTag).string(value).join();
    },
    decode: (reader, before) => {
      let key = '';
      let value = '';
      for (const end = reader.uint32() + reader.pos; reader.pos < end;) {
        const found = reader.uint32();
        if (found === keyTag) key = reader.string();
        else if (found === valueTag) value = reader.string();
        else skip(reader, found);
      }
      return setMember(before, key, value);
    },
    complete: (map) =>
      Object.entries(map as TextMap).reduce((copy, [key, value]) => setMember(copy, key, value), {}),
  };
}

function setMember(map: TextMap, key: string, value: string): TextMap {
  // Assigned, this one key would be the prototype.
  if (key === '__proto__')
    return Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  map[key] = value;
  return map;
}

type Members = Record<string, unknown>;

/** Deeper than any message of ours; a sender could exhaust the stack otherwise. */
const deepest = 100;

function skip(reader: BinaryReader, tag: number): void {
  const number = tag >>> 3;
  if (number === 0) throw new RangeError('a field has the number 0');
  reader.skip(tag & 7, number);
}

export function defineMessage<T extends object>(fields: {
  readonly [Key in keyof T]-?: Field<Exclude<T[Key], undefined>>;
}): MessageType<T> {
  const all = Object.entries(fields) as [string, Field<unknown>][];
  const byNumber: { readonly name: string; readonly field: Field<unknown> }[] = [];
  for (const [name, field] of all) byNumber[field.number] = { name, field };
  const template = Object.fromEntries(all.map(([name, { initial }]) => [name, initial]));
  const own = all.flatMap(([name, { createInitial }]) => (createInitial ? [{ name, createInitial }] : []));
  const create = (): Members => {
    const created: Members = { ...template };
    for (const { name, createInitial } of own) created[name] = createInitial();
    return created;
  };
  const readField = (reader: BinaryReader, into: Members, depth: number): void => {
    const tag = reader.uint32();
    const wire: WireType = tag & 7;
    const known = byNumber[tag >>> 3];
    if (known?.field.wires.includes(wire) !== true) skip(reader, tag);
    else into[known.name] = known.field.decode(reader, into[known.name], wire, depth);
  };
  return {
    encode(given, writer = new BinaryWriter()) {
      for (const [name, field] of all) {
        const value = (given as Members)[name];
        if (value !== undefined) field.encode(writer, value);
      }
      return writer;
    },
    decode(input, length, depth = 0) {
      if (depth >= deepest) throw new RangeError('messages are nested too deeply');
      const reader = input instanceof BinaryReader ? input : new BinaryReader(input);
      const end = length === undefined ? reader.len : reader.pos + length;
      const decoded = create();
      while (reader.pos < end) readField(reader, decoded, depth);
      return decoded as T;
    },
    fromPartial(object) {
      const completed = create();
      for (const [name, { complete }] of all) {
        const value = (object as Members)[name];
        if (value !== undefined && value !== null) completed[name] = complete(value);
      }
      return completed as T;
    },
  };
}
