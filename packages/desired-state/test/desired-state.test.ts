import { DesiredState } from '@podwire/desired-state';
import { createEngine } from '@podwire/engine';
import type { JournalFile } from '@podwire/planner';
import { silentLog } from '@podwire/platform';
import { describe, expect, test } from 'vitest';
import { Controller, soon, type Subnet } from './controller.js';
import { Database, type Row } from './database.js';

class MemoryFile implements JournalFile {
  text: string | undefined;
  read = () => this.text;
  write = (text: string) => void (this.text = text);
  append = (text: string) => void (this.text = `${this.text ?? ''}${text}`);
}

const subnet = (name: string, cidr: string, ...ports: string[]): Subnet => ({ name, cidr, ports });

/** A controller that has followed these subnets; `source` may be changed. */
async function createController(...subnets: Subnet[]) {
  const [database, file] = [new Database(), new MemoryFile()];
  const source = new Map(subnets.map((one) => [one.name, one]));
  const controller = new Controller(database, file);
  controller.source = source;
  await controller.follow(...source.keys());
  return { controller, database, file, source };
}

describe('a controller with a database', () => {
  test('writes the rows of each subnet, a switch before its ports, and what they share once', async () => {
    const { database } = await createController(
      subnet('red', '10.1.0.0/16', 'web', 'db'),
      subnet('blue', '10.2.0.0/16'),
    );
    expect(database.listOurs()).toEqual([
      'port/db {"switch":"red"}',
      'port/web {"switch":"red"}',
      'switch/blue {"cidr":"10.2.0.0/16","zone":"one"}',
      'switch/red {"cidr":"10.1.0.0/16","zone":"one"}',
      'zone/one {}',
    ]);
    expect(database.written.indexOf('switch/red')).toBeLessThan(database.written.indexOf('port/web'));
    expect(database.written.filter((key) => key === 'zone/one')).toHaveLength(1);
  });

  test('writes one row for one port more', async () => {
    const { controller, database, source } = await createController(subnet('red', '10.1.0.0/16', 'web'));
    database.written.length = 0;
    source.set('red', subnet('red', '10.1.0.0/16', 'web', 'db'));
    await controller.follow('red');
    expect(database.written).toEqual(['port/db']);
  });

  test('plans again what has read a fact that changes', async () => {
    const { controller, database } = await createController(subnet('red', '10.1.0.0/16'));
    controller.zone = 'two';
    controller.desired.planner.noteChanged(['zone']);
    await controller.follow();
    expect(database.listOurs()).toEqual(['switch/red {"cidr":"10.1.0.0/16","zone":"two"}', 'zone/two {}']);
  });

  test('removes the rows of a subnet that is gone, and forgets it', async () => {
    const { controller, database, file, source } = await createController(
      subnet('red', '10.1.0.0/16', 'web'),
      subnet('blue', '10.2.0.0/16'),
    );
    source.delete('red');
    await controller.follow('red');
    expect(database.listOurs()).toEqual(['switch/blue {"cidr":"10.2.0.0/16","zone":"one"}', 'zone/one {}']);
    expect(file.text).toMatch(/\{"gone":"red"\}\n$/);
  });

  test('keeps the rows and the memory of a subnet whose plan fails, and serves the others', async () => {
    const { controller, database, file, source } = await createController(subnet('red', '10.1.0.0/16'));
    source.set('red', subnet('red', ''));
    source.set('blue', subnet('blue', '10.2.0.0/16'));
    await controller.follow('red', 'blue');
    expect([...controller.problems.keys()]).toEqual(['subnet/red']);
    expect(database.rows.get('switch/red')?.columns).toContain('10.1.0.0/16');
    expect(database.rows.has('switch/blue')).toBe(true);
    expect(file.text).not.toContain('"cidr":""');
  });

  test('names a subnet whose row is refused, and writes it when that has passed', async () => {
    const { controller, database, source } = await createController(subnet('blue', '10.2.0.0/16'));
    database.refused.add('switch/red');
    source.set('red', subnet('red', '10.1.0.0/16', 'web'));
    await controller.follow('red');
    expect([...controller.problems.keys()]).toEqual(['subnet/red']);
    expect(database.rows.has('port/web')).toBe(false);
    database.refused.clear();
    await controller.follow('red');
    controller.desired.planner.retry();
    await controller.follow();
    expect(controller.problems.size).toBe(0);
    expect(database.rows.has('port/web')).toBe(true);
  });
});

describe('a reconcile', () => {
  test('repairs rows, prunes those that no subnet wants, and leaves foreign ones alone', async () => {
    const { controller, database } = await createController(subnet('red', '10.1.0.0/16', 'web'));
    const before = database.listOurs();
    database.rows.delete('port/web');
    database.rows.set('port/left', { columns: '{}', isOurs: true });
    database.writeForeign('switch/office', '{}');
    const changes = await controller.reconcile();
    expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual([
      'repaired row port/web',
      'removed row port/left',
    ]);
    expect(database.listOurs()).toEqual(before);
    expect(database.rows.has('switch/office')).toBe(true);
    expect(await controller.reconcile()).toEqual([]);
  });

  test('puts in order what a follow could not, so that the next one has nothing to do', async () => {
    const { controller, database, source } = await createController();
    database.refused.add('switch/red');
    source.set('red', subnet('red', '10.1.0.0/16'));
    await controller.follow('red');
    database.refused.clear();
    await controller.reconcile();
    database.written.length = 0;
    controller.desired.planner.retry();
    await controller.follow();
    expect(database.written).toEqual([]);
  });

  test('keeps what no scope wants while not all are known', async () => {
    const { controller, database } = await createController();
    database.rows.set('port/left', { columns: '{}', isOurs: true });
    const engine = createEngine({ backends: [database.createBackend()] });
    await controller.desired.reconcile({ engine, keepLeftovers: true, signal: soon() });
    expect(database.rows.has('port/left')).toBe(true);
  });
});

describe('a restart', () => {
  test('touches nothing that is right while the source of objects is away', async () => {
    const { database, file } = await createController(subnet('red', '10.1.0.0/16', 'web'));
    const before = database.listOurs();
    database.written.length = 0;
    const next = new Controller(database, file);
    expect(await next.reconcile()).toEqual([]);
    await next.follow();
    expect(database.listOurs()).toEqual(before);
    expect(database.written).toEqual([]);
  });

  test('removes a subnet that went away meanwhile, once the source is back', async () => {
    const { database, file } = await createController(
      subnet('red', '10.1.0.0/16', 'web'),
      subnet('blue', '10.2.0.0/16'),
    );
    const next = new Controller(database, file);
    await next.reconcile();
    next.source = new Map([['blue', subnet('blue', '10.2.0.0/16')]]);
    await next.follow('red', 'blue');
    expect(database.listOurs()).toEqual(['switch/blue {"cidr":"10.2.0.0/16","zone":"one"}', 'zone/one {}']);
  });

  test('finds what a crash between memory and database has left open', async () => {
    const { database, file, controller, source } = await createController(subnet('red', '10.1.0.0/16'));
    source.set('red', subnet('red', '10.1.0.0/16', 'web'));
    database.refused.add('port/web');
    await controller.follow('red');
    database.refused.clear();
    await new Controller(database, file).reconcile();
    expect(database.rows.has('port/web')).toBe(true);
  });
});

describe('kinds of scopes', () => {
  const { kinds } = createEngine({ backends: [] });
  const create = () => new DesiredState({ kinds, log: silentLog });
  const plain = { plan: () => [], ownerOf: (id: string) => id };

  test('are followed apart from each other', async () => {
    const database = new Database();
    const engine = createEngine({ backends: [database.createBackend()] });
    const desired = new DesiredState({ kinds: engine.kinds, log: silentLog });
    for (const kind of ['one', 'two'])
      desired.register({
        ...{ kind, ownerOf: (id) => `${kind}:${id}` },
        plan: (id) => [{ kind: 'row', table: kind, name: id, columns: {} }],
      });
    for (const scope of ['one/a', 'two/a']) desired.planner.markScope(scope);
    const options = { engine, signal: soon() };
    expect(await desired.follow(options, (kind) => kind === 'two')).toMatchObject({
      planned: ['two/a'],
      added: 1,
    });
    expect(database.listOurs()).toEqual(['two/a {}']);
    expect(await desired.follow(options)).toMatchObject({ planned: [], added: 1 });
    expect(desired.owned((kind) => kind === 'one').map(({ owner }) => owner)).toEqual(['one:a']);
  });

  test('are registered once, and bring each fact once', () => {
    const desired = create();
    desired.register({ kind: 'one', ...plain, sources: { zone: () => 'here' } });
    expect(() => desired.register({ kind: 'one', ...plain })).toThrow('scopes of kind one are registered');
    const again = { kind: 'two', ...plain, sources: { zone: () => 'there' } };
    expect(() => desired.register(again)).toThrow('facts of kind zone are registered');
  });

  test('that are not registered are refused by name', () => {
    const desired = create();
    expect(() => desired.ownerOf('pool/a')).toThrow('no scopes of kind pool are registered');
  });
});

describe('a kind that lists its scopes', () => {
  async function createTenants() {
    const database = new Database();
    const engine = createEngine({ backends: [database.createBackend()] });
    const desired = new DesiredState({ kinds: engine.kinds, log: silentLog });
    const planned: string[] = [];
    let tenants: readonly string[] = ['a', 'b'];
    desired.register({
      ...{ kind: 'tenant', ownerOf: (id) => `tenant:${id}` },
      list: (read) => read('zone').split(','),
      plan(id) {
        planned.push(id);
        return [{ kind: 'row', table: 'tenant', name: id, columns: {} }];
      },
      sources: { zone: () => tenants.join(',') },
    });
    const follow = async (now: readonly string[]) => {
      tenants = now;
      planned.length = 0;
      desired.planner.noteChanged(['zone']);
      return desired.follow({ engine, signal: soon() });
    };
    await follow(tenants);
    return { database, desired, planned, follow };
  }

  test('plans each that is on the list', async () => {
    const { database, desired } = await createTenants();
    expect(database.listOurs()).toEqual(['tenant/a {}', 'tenant/b {}']);
    expect(desired.owned().map(({ owner }) => owner)).toEqual(['tenant:a', 'tenant:b']);
  });

  test('plans those that come, removes those that go, and runs no other plan', async () => {
    const { database, planned, follow } = await createTenants();
    await follow(['b', 'c']);
    expect(database.listOurs()).toEqual(['tenant/b {}', 'tenant/c {}']);
    expect(planned).toEqual(['c']);
  });
});

describe('scopes that a call needs now', () => {
  function createTenants() {
    const database = new Database();
    const engine = createEngine({ backends: [database.createBackend()] });
    const desired = new DesiredState({ kinds: engine.kinds, log: silentLog });
    const tenants = new Set(['a']);
    desired.register({
      ...{ kind: 'tenant', ownerOf: (id) => `tenant:${id}` },
      list: (read) => (read('zone') === '' ? [] : tenants),
      plan: (id) => [{ kind: 'row', table: 'tenant', name: id, columns: {} }],
      sources: { zone: () => 'here' },
    });
    return { database, engine, desired, tenants };
  }

  test('are planned and applied at once, and cost nothing then', async () => {
    const { database, engine, desired } = createTenants();
    await desired.ensure(['tenant/a'], { engine, signal: soon() });
    expect(database.listOurs()).toEqual(['tenant/a {}']);
    const { revision } = desired;
    await desired.ensure(['tenant/a'], { engine, signal: soon() });
    expect(desired.revision).toBe(revision);
  });

  test('are found where their list has changed since it was made', async () => {
    const { database, engine, desired, tenants } = createTenants();
    await desired.follow({ engine, signal: soon() });
    tenants.add('b');
    await desired.ensure(['tenant/b'], { engine, signal: soon() });
    expect(database.listOurs()).toEqual(['tenant/a {}', 'tenant/b {}']);
  });

  test('are refused where there is no such scope', async () => {
    const { engine, desired } = createTenants();
    const call = desired.ensure(['tenant/none'], { engine, signal: soon() });
    await expect(call).rejects.toThrow('there is no tenant:none');
  });

  test('fail with the error of the engine, and are tried again by the next call', async () => {
    const { database, engine, desired } = createTenants();
    database.refused.add('tenant/a');
    const call = desired.ensure(['tenant/a'], { engine, signal: soon() });
    await expect(call).rejects.toThrow('tenant/a is refused');
    expect([...desired.problems().keys()]).toEqual(['tenant/a']);
    database.refused.clear();
    await desired.ensure(['tenant/a'], { engine, signal: soon() });
    expect(desired.problems().size).toBe(0);
  });

  test('are waited for where another call has begun to apply them', async () => {
    const { database, engine, desired } = createTenants();
    const calls = Array.from({ length: 5 }, () => desired.ensure(['tenant/a'], { engine, signal: soon() }));
    await Promise.all([...calls, desired.follow({ engine, signal: soon() })]);
    expect(database.written).toEqual(['tenant/a']);
  });
});

describe('a scope that a request works on', () => {
  /** Ports of a switch, which they share. */
  function createPorts() {
    const database = new Database();
    const engine = createEngine({ backends: [database.createBackend()] });
    const desired = new DesiredState({ kinds: engine.kinds, log: silentLog });
    const ports = new Map<string, string>();
    desired.register({
      ...{ kind: 'port', ownerOf: (id) => `port:${id}` },
      plan(id): Row[] | undefined {
        const zone = ports.get(id);
        return zone === undefined
          ? undefined
          : [
              { kind: 'row', table: 'port', name: id, columns: { switch: 'all' } },
              { kind: 'row', table: 'switch', name: 'all', columns: { zone } },
            ];
      },
    });
    const apply = async (id: string, zone?: string): Promise<void> => {
      if (zone === undefined) ports.delete(id);
      else ports.set(id, zone);
      await desired.applyScope(`port/${id}`, { engine, signal: soon() });
    };
    return { database, desired, ports, apply };
  }

  test('is made as a whole, without what is there for another one', async () => {
    const { database, apply } = createPorts();
    await apply('a', 'one');
    await apply('b', 'one');
    expect(database.written).toEqual(['switch/all', 'port/a', 'port/b']);
  });

  test('leaves what another one wants, and the last one takes it along', async () => {
    const { database, apply } = createPorts();
    await apply('a', 'one');
    await apply('b', 'one');
    await apply('a');
    expect(database.listOurs()).toEqual(['port/b {"switch":"all"}', 'switch/all {"zone":"one"}']);
    await apply('b');
    expect(database.listOurs()).toEqual([]);
  });

  test('is refused where another one wants something differently', async () => {
    const { database, desired, ports, apply } = createPorts();
    await apply('a', 'one');
    await expect(apply('b', 'two')).rejects.toMatchObject({ code: 'PLAN_CONFLICT' });
    ports.delete('b');
    desired.noteUndone('port/b');
    expect(database.listOurs()).toEqual(['port/a {"switch":"all"}', 'switch/all {"zone":"one"}']);
    expect(desired.planner.conflictCount).toBe(0);
  });

  test('is made by a second call where a first one that had begun with it has failed', async () => {
    const { database, desired, ports, apply } = createPorts();
    database.refused.add('port/a');
    const [first, second] = await Promise.allSettled([
      apply('a', 'one').catch((error: unknown) => {
        ports.delete('a');
        desired.noteUndone('port/a');
        throw error;
      }),
      apply('b', 'one'),
    ]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
    expect(database.listOurs()).toEqual(['port/b {"switch":"all"}', 'switch/all {"zone":"one"}']);
  });
});
