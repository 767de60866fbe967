import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bool,
  bytes,
  defineMessage,
  double,
  enumeration,
  int32,
  int64,
  int64Number,
  int64Text,
  many,
  message,
  messages,
  type MessageType,
  one,
  optional,
  string,
  textMap,
  uint32,
  uint64,
  uint64Text,
} from '../src/index.js';

interface Leaf {
  readonly name: string;
  readonly sizes: readonly number[];
}

const Leaf: MessageType<Leaf> = defineMessage({ name: one(1, string), sizes: many(2, uint32) });

interface Tree {
  readonly label: string;
  readonly data: Buffer;
  readonly flag: boolean;
  readonly ratio: number;
  readonly small: number;
  readonly signed: bigint;
  readonly large: bigint;
  readonly revision: number;
  readonly id: string;
  readonly cluster: string;
  readonly state: 0 | 1;
  readonly limit?: number | undefined;
  readonly leaf?: Leaf | undefined;
  readonly names: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly below: readonly Tree[];
}

const Tree: MessageType<Tree> = defineMessage<Tree>({
  label: one(1, string),
  data: one(2, bytes),
  flag: one(3, bool),
  ratio: one(4, double),
  small: one(5, int32),
  signed: one(6, int64),
  large: one(7, uint64),
  revision: one(8, int64Number),
  id: one(9, int64Text),
  cluster: one(10, uint64Text),
  state: one(11, enumeration<0 | 1>()),
  limit: optional(12, int32),
  leaf: message(13, () => Leaf),
  names: many(14, string),
  labels: textMap(15),
  below: messages(16, () => Tree),
});

const leaf = fc.record({ name: fc.string(), sizes: fc.array(fc.nat()) });

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    label: fc.string(),
    data: fc.uint8Array().map((each) => Buffer.from(each)),
    flag: fc.boolean(),
    ratio: fc.double({ noNaN: true }).map((each) => each + 0),
    small: fc.integer(),
    signed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    large: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    revision: fc.maxSafeNat(),
    id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    cluster: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    state: fc.constantFrom(0 as const, 1 as const),
    limit: fc.option(fc.integer(), { nil: undefined }),
    leaf: fc.option(leaf, { nil: undefined }),
    names: fc.array(fc.string()),
    labels: fc.dictionary(fc.string(), fc.string()).map((each) => ({ ...each })),
    // Not as deep as messages may be nested: that has a test of its own.
    below: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 2 })),
  }),
}));

test('decodes what it has encoded', () => {
  fc.assert(
    fc.property(tree, (given) => {
      expect(Tree.decode(Tree.encode(given).finish())).toEqual(given);
    }),
  );
});

test('writes nothing for defaults, and gives them to absent members', () => {
  const empty = Tree.fromPartial({});
  expect(Tree.encode(empty).finish()).toHaveLength(0);
  expect(Tree.decode(new Uint8Array())).toEqual(empty);
  expect(empty).toMatchObject({ label: '', flag: false, signed: 0n, id: '0', labels: {}, below: [] });
});

test('completes messages below', () => {
  expect(Tree.fromPartial({ leaf: { name: 'a' }, below: [{ label: 'b' }] })).toMatchObject({
    leaf: { name: 'a', sizes: [] },
    below: [{ label: 'b', names: [] }],
  });
});

test('keeps an optional default apart from an absent value', () => {
  const { limit } = Tree.decode(Tree.encode(Tree.fromPartial({ limit: 0 })).finish());
  expect(limit).toBe(0);
});

test('reads lists of numbers that are written one by one', () => {
  const writer = new BinaryWriter();
  for (const size of [7, 8]) writer.tag(2, WireType.Varint).uint32(size);
  expect(Leaf.decode(writer.finish()).sizes).toEqual([7, 8]);
});

test('skips unknown fields, and known ones with another type on the wire', () => {
  const writer = new BinaryWriter().tag(99, WireType.LengthDelimited).string('x');
  writer.tag(1, WireType.Varint).uint32(5).tag(1, WireType.LengthDelimited).string('name');
  expect(Leaf.decode(writer.finish())).toEqual({ name: 'name', sizes: [] });
});

test('reads __proto__ as a key of a map', () => {
  const labels = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
  const read = Tree.decode(Tree.encode(Tree.fromPartial({ labels })).finish());
  expect(Object.entries(read.labels)).toEqual([['__proto__', 'x']]);
});

test('refuses a number that is too large, a field 0 and messages that are nested too deeply', () => {
  const revision = new BinaryWriter().tag(8, WireType.Varint).int64(2n ** 60n);
  expect(() => Tree.decode(revision.finish())).toThrow(/more than a number/);
  expect(() => Tree.decode(Uint8Array.of(0, 1))).toThrow(/number 0/);
  let nested = Tree.fromPartial({});
  for (let depth = 0; depth < 101; depth++) nested = Tree.fromPartial({ below: [nested] });
  expect(() => Tree.decode(new BinaryReader(Tree.encode(nested).finish()))).toThrow(/nested too deeply/);
});
