/** One change over several backends: its order, and that all of it happens or nothing. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type Backend,
  type Batch,
  createEngine,
  type Exchange,
  type Kind,
  type Resource,
  type Session,
} from '../src/index.js';

interface Item {
  readonly kind: string;
  readonly name: string;
  readonly value: number;
  readonly after?: readonly string[];
}

const item = (kind: string, name: string, value = 1, ...after: string[]): Resource =>
  ({ kind, name, value, after }) as unknown as Resource;
const asItem = (resource: Resource): Item => resource as unknown as Item;

/** A backend in memory. `plain` changes in place, `rigid` cannot, `atomic` has transactions. */
class Memory implements Session {
  readonly present = new Map<string, number>();
  readonly calls: string[] = [];
  refused = '';
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  #note(call: string, names: readonly Resource[], gone: readonly Resource[] = []): void {
    const words = [...names.map((one) => asItem(one).name), ...gone.map((one) => `-${asItem(one).name}`)];
    this.calls.push(`${this.#name} ${call} ${words.join(' ')}`);
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create({ resources }: Parameters<Session['create']>[0]) {
    this.#note('create', resources);
    return Promise.resolve(resources.flatMap((one) => this.#put(one, !this.present.has(asItem(one).name))));
  }

  async repair({ resources }: Parameters<Session['repair']>[0]) {
    this.#note('replace', resources);
    return Promise.resolve(resources.flatMap((one) => this.#put(one, true)));
  }

  async remove({ resources }: Parameters<Session['remove']>[0]) {
    this.#note('remove', resources);
    for (const one of resources) this.present.delete(asItem(one).name);
    return Promise.resolve([]);
  }

  async exchange({ add, replace, remove }: Exchange) {
    this.#note('exchange', [...replace, ...add], remove);
    const bad = [...replace, ...add].find((one) => asItem(one).name === this.refused);
    if (bad !== undefined) return Promise.resolve([{ resource: bad, error: new Error('refused') }]);
    const taken = add.filter((one) => this.present.has(asItem(one).name));
    if (taken.length > 0)
      return Promise.resolve(taken.map((resource) => ({ resource, error: new Error('EEXIST') })));
    for (const one of remove) this.present.delete(asItem(one).name);
    for (const one of [...replace, ...add]) this.#put(one, true);
    return Promise.resolve([]);
  }

  async observe(resources: readonly Resource[]) {
    return Promise.resolve(
      new Map(resources.map((one) => [one, { found: this.present.get(asItem(one).name) }])),
    );
  }

  close(): void {
    // Nothing is open.
  }

  #put(resource: Resource, isFree: boolean) {
    const { name, value } = asItem(resource);
    if (name === this.refused) return [{ resource, error: new Error('refused') }];
    if (!isFree) return [{ resource, error: new Error('EEXIST') }];
    this.present.set(name, value);
    return [];
  }
}

const kindOf = (name: string): Kind => ({
  ...{ kind: name, backend: name, batch: 'all', inPlace: name !== 'rigid', transactional: name === 'atomic' },
  place: () => 'host',
  key: (one) => `${name} ${(one as Item).name}`,
  describe: (one) => `${name} ${(one as Item).name}`,
  after: (one) => (one as Item).after ?? [],
  check: () => undefined,
  compare(one, found) {
    if (found === undefined) return { missing: 'there is none' };
    return found === (one as Item).value ? undefined : `it is ${found as number}`;
  },
});

function createMemories() {
  const memories = { plain: new Memory('plain'), rigid: new Memory('rigid'), atomic: new Memory('atomic') };
  const backends = Object.entries(memories).map(([name, memory]): Backend => ({
    ...{ name, kinds: [kindOf(name)], open: () => memory, close: () => undefined },
    isAbsent: () => false,
    isConflict: (error) => (error as Error).message === 'EEXIST',
  }));
  const engine = createEngine({ backends });
  const calls = (): string[] => Object.values(memories).flatMap((memory) => memory.calls.splice(0));
  const present = (): unknown => Object.values(memories).map((memory) => Object.fromEntries(memory.present));
  return { engine, memories, calls, present };
}

const owner = { owner: 'endpoint:1' };
const call = () => ({ signal: AbortSignal.timeout(10_000) });

test('removal comes first, then everything else in the order of its needs', async () => {
  const { engine, memories } = createMemories();
  const order: string[] = [];
  for (const memory of Object.values(memories)) memory.calls.push = (one) => order.push(one);
  await engine.apply({ ...owner, resources: [item('plain', 'old')] }, call());
  order.length = 0;
  const add = [
    item('atomic', 'flow', 1, 'rigid port'),
    item('rigid', 'port', 1, 'plain link'),
    item('plain', 'link'),
  ];
  await engine.change(owner, { remove: [item('plain', 'old')], add }, call());
  expect(order).toEqual(['plain remove old', 'plain create link', 'rigid create port', 'atomic create flow']);
});

test('a backend gets ready for what comes next while another one works, and for nothing after a failure', async () => {
  const { engine, memories } = createMemories();
  const order: string[] = [];
  for (const memory of Object.values(memories)) memory.calls.push = (one) => order.push(one);
  Object.assign(memories.atomic, {
    prepare: ({ resources }: Batch) => order.push(`atomic prepare ${asItem(resources[0]!).name}`),
  });
  const create = memories.rigid.create.bind(memories.rigid);
  memories.rigid.create = async (batch) => {
    await setImmediate();
    return create(batch);
  };
  const resources = [item('plain', 'link'), item('rigid', 'port'), item('atomic', 'flow', 1, 'rigid port')];
  await engine.apply({ ...owner, resources }, call());
  expect(order.splice(0)).toEqual([
    'plain create link',
    'atomic prepare flow',
    'rigid create port',
    'atomic create flow',
  ]);
  memories.plain.refused = 'other';
  const others = [item('plain', 'other'), item('rigid', 'p'), item('atomic', 'f', 1, 'rigid p')];
  await expect(engine.apply({ ...owner, resources: others }, call())).rejects.toThrow('refused');
  expect(order).toEqual(['plain create other']);
});

test('removal goes on while a backend is busy with its part, and ends with that, whatever has failed', async () => {
  const { engine, memories, calls } = createMemories();
  const resources = [
    item('plain', 'link'),
    item('rigid', 'port', 1, 'plain link'),
    item('atomic', 'flow', 1, 'rigid port'),
  ];
  await engine.apply({ ...owner, resources }, call());
  calls();
  let end = (_: Error): void => undefined;
  const done = new Promise<never>((_, reject) => (end = reject));
  Object.assign(memories.atomic, { startRemoval: () => Promise.resolve({ done }) });
  const removal = engine.remove({ ...owner, resources }, call());
  await expect.poll(() => memories.plain.calls).toEqual(['plain remove link']);
  expect(memories.rigid.calls).toEqual(['rigid remove port']);
  end(new Error('the switch has gone'));
  await expect(removal).rejects.toMatchObject({
    code: 'REMOVE_INCOMPLETE',
    message: 'endpoint:1: atomic flow: the switch has gone',
  });
});

test('content changes in place where its kind can, and with a gap where it cannot', async () => {
  const { engine, calls, present } = createMemories();
  const before = ['plain', 'rigid', 'atomic'].map((kind) => item(kind, 'x', 1));
  const after = ['plain', 'rigid', 'atomic'].map((kind) => item(kind, 'x', 2));
  await engine.apply({ ...owner, resources: before }, call());
  calls();
  await engine.change(owner, { remove: before, add: after }, call());
  expect(calls()).toEqual(['plain replace x', 'rigid remove x', 'rigid create x', 'atomic exchange x']);
  expect(present()).toEqual([{ x: 2 }, { x: 2 }, { x: 2 }]);
});

test('all that happens in a backend with transactions is one call', async () => {
  const { engine, calls } = createMemories();
  const old = [item('atomic', 'a'), item('atomic', 'b')];
  await engine.apply({ ...owner, resources: old }, call());
  calls();
  const add = [item('atomic', 'b', 2), item('atomic', 'd'), item('plain', 'x', 1, 'atomic d')];
  await engine.change(owner, { remove: old, replace: [item('atomic', 'c', 3)], add }, call());
  expect(calls()).toEqual(['plain create x', 'atomic exchange c b d -a']);
});

test.each(['plain', 'rigid', 'atomic'] as const)(
  'a change that %s refuses is undone as a whole',
  async (refusing) => {
    const { engine, memories, calls, present } = createMemories();
    const kinds = ['plain', 'rigid', 'atomic'];
    const before = kinds.flatMap((kind) => [item(kind, 'goes'), item(kind, 'changes')]);
    await engine.apply({ ...owner, resources: before }, call());
    const then = present();
    const add = kinds.flatMap((kind) => [item(kind, 'changes', 2), item(kind, `comes-${kind}`)]);
    memories[refusing].refused = `comes-${refusing}`;
    await expect(engine.change(owner, { remove: before, add }, call())).rejects.toMatchObject({
      code: 'KERNEL_REFUSED',
    });
    expect(present()).toEqual(then);
    memories[refusing].refused = '';
    calls();
    await engine.change(owner, { remove: before, add }, call());
    expect(present()).toEqual(kinds.map((kind) => ({ changes: 2, [`comes-${kind}`]: 1 })));
  },
);

test('an added resource that is there and differs is refused, and a replaced one needs not be known', async () => {
  const { engine, present } = createMemories();
  await engine.apply({ ...owner, resources: [item('plain', 'x', 1)] }, call());
  await expect(engine.change(owner, { add: [item('plain', 'x', 2)] }, call())).rejects.toThrow('EEXIST');
  await engine.change(owner, { replace: [item('plain', 'x', 2), item('rigid', 'y', 3)] }, call());
  expect(present()).toEqual([{ x: 2 }, { y: 3 }, {}]);
});

test('a transaction takes over what is there already and agrees, and refuses what differs', async () => {
  const { engine, present } = createMemories();
  const old = item('atomic', 'old');
  await engine.apply({ ...owner, resources: [old, item('atomic', 'x', 1)] }, call());
  const change = (value: number) => ({
    remove: [old],
    add: [item('atomic', 'new'), item('atomic', 'x', value)],
  });
  await expect(engine.change(owner, change(2), call())).rejects.toThrow('EEXIST');
  expect(present()).toEqual([{}, {}, { old: 1, x: 1 }]);
  await engine.change(owner, change(1), call());
  expect(present()).toEqual([{}, {}, { new: 1, x: 1 }]);
});

const circle = [item('plain', 'a', 1, 'atomic b'), item('atomic', 'b', 1, 'plain a')];

test('resources that need each other in a circle are refused by name, before anything is changed', async () => {
  const { engine, calls } = createMemories();
  const resources = [item('rigid', 'x'), ...circle];
  const refused = {
    code: 'RESOURCE_CIRCLE',
    message: 'plain a needs atomic b, which needs plain a: none of them can come first',
  };
  await expect(engine.apply({ ...owner, resources }, call())).rejects.toMatchObject(refused);
  await expect(engine.change(owner, { replace: resources }, call())).rejects.toMatchObject(refused);
  await expect(engine.remove({ ...owner, resources }, call())).rejects.toMatchObject(refused);
  expect(calls()).toEqual([]);
});

test('a circle costs a reconcile the owner that has it, and no others', async () => {
  const { engine, present } = createMemories();
  const owners = [
    { owner: 'in a circle', resources: circle },
    { owner: 'other', resources: [item('plain', 'y')] },
  ];
  const changes = await engine.reconcile(owners, call());
  expect(changes).toMatchObject([
    { owner: 'in a circle', action: 'failed', error: { code: 'RESOURCE_CIRCLE' } },
    { owner: 'other', action: 'repaired' },
  ]);
  expect(present()).toEqual([{ y: 1 }, {}, {}]);
});

test('a repair of what cannot change in place is reported with its gap', async () => {
  const { engine, memories } = createMemories();
  const resources = ['plain', 'rigid', 'atomic'].map((kind) => item(kind, 'x'));
  await engine.apply({ ...owner, resources }, call());
  for (const { present } of Object.values(memories)) present.set('x', 9);
  const repaired = (what: string) => ({ ...owner, action: 'repaired', what });
  const reconcile = async () => engine.reconcile([{ ...owner, resources }], call());
  expect(await reconcile()).toEqual([
    repaired('plain x'),
    { ...repaired('rigid x'), gap: true },
    repaired('atomic x'),
  ]);
  // The gap of something that is gone is not the repair's.
  memories.rigid.present.clear();
  expect(await reconcile()).toEqual([repaired('rigid x')]);
});

test('what cannot be put back keeps back what needs it', async () => {
  const { engine, memories, calls, present } = createMemories();
  const before = [item('rigid', 'port'), item('plain', 'flow', 1, 'rigid port'), item('plain', 'other')];
  await engine.apply({ ...owner, resources: before }, call());
  calls();
  memories.atomic.refused = 'new';
  const create = memories.atomic.create.bind(memories.atomic);
  memories.atomic.create = async (batch) => {
    memories.rigid.refused = 'port';
    return create(batch);
  };
  const change = { remove: before, add: [item('atomic', 'new')] };
  await expect(engine.change(owner, change, call())).rejects.toThrow(
    'endpoint:1: rigid port: refused; plain flow: refused',
  );
  expect(memories.plain.calls.filter((one) => one.includes('create'))).toEqual(['plain create other']);
  expect(present()).toEqual([{ other: 1 }, {}, {}]);
});

test('a repair keeps what it could do where something is refused', async () => {
  const { engine, memories, present } = createMemories();
  const resources = [
    item('plain', 'link'),
    item('rigid', 'port', 1, 'plain link'),
    item('atomic', 'flow', 1, 'rigid port'),
    item('atomic', 'other'),
  ];
  memories.rigid.refused = 'port';
  const reconcile = async () => engine.reconcile([{ ...owner, resources }], call());
  expect((await reconcile()).map(({ action, what }) => `${action} ${what}`)).toEqual([
    ...['repaired plain link', 'failed rigid port', 'failed atomic flow', 'repaired atomic other'],
  ]);
  expect(present()).toEqual([{ link: 1 }, {}, { other: 1 }]);
  memories.rigid.refused = '';
  expect(await reconcile()).toHaveLength(2);
  expect(present()).toEqual([{ link: 1 }, { port: 1 }, { flow: 1, other: 1 }]);
});
