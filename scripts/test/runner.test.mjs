/** The runner's own tests: whatever goes wrong in a test file must be counted, and nothing may be left behind unseen. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { programs } from './bundles.mjs';
import { lowestPriority, runNode } from './children.mjs';
import { findCommandFaults, readCommands } from './contributing.mjs';
import { describeFailure, kindOf, limitFlaky, runFailedAgain } from './flaky.mjs';
import { compareNetwork, findProcesses, leftNamespaces } from './machine.mjs';
import { longFiles, sortLongestFirst } from './long-files.mjs';
import { findTests, listNodeFiles, withoutEmpty } from './node-files.mjs';
import { findRepositoryFaults } from './repository.mjs';
import { ratesOf, repeat } from './repeat.mjs';
import { countsOf, showSummary } from './show.mjs';

const MARK = { PODWIRE_RUNNER_TEST: String(process.pid) };
let root;
let printed;

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-runner-'));
  printed = [];
  vi.spyOn(console, 'log').mockImplementation((line) => printed.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(root, { recursive: true });
});

const write = (file, text) => {
  fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  fs.writeFileSync(path.join(root, file), text);
};

/** Runs one file whose compiled form is `body`; what the runner says of it. */
async function runBody(body, { grep, seconds = 20 } = {}) {
  write('packages/a/test/x.ns.test.ts', '');
  if (body !== undefined)
    write(
      'packages/a/dist/test/x.ns.test.js',
      `const { it, describe, before } = require('node:test');\n${body}`,
    );
  const context = { root, grep, files: [], env: MARK, temporary: root, seconds };
  const [run] = listNodeFiles(['ns'], context);
  return withoutEmpty([await run()], grep)[0];
}

describe('sortLongestFirst', () => {
  it('puts the files that take long first, and leaves the others in their order', () => {
    const sources = [
      'b.ns.test.ts',
      'a.ns.test.ts',
      'test/some/short.ns.test.ts',
      'x/demo/test/demo.ns.test.ts',
      'test/faults/kill-remove.ns.test.ts',
    ];
    expect(sortLongestFirst(sources.map((source) => ({ source }))).map(({ source }) => source)).toEqual([
      'test/faults/kill-remove.ns.test.ts',
      'x/demo/test/demo.ns.test.ts',
      'test/some/short.ns.test.ts',
      'b.ns.test.ts',
      'a.ns.test.ts',
    ]);
  });

  it('knows only files that there are', () => {
    const repository = path.resolve(import.meta.dirname, '../..');
    const sources = findTests(repository, '.test.ts', []);
    expect(longFiles.filter((part) => !sources.some((source) => source.endsWith(`${part}.test.ts`)))).toEqual(
      [],
    );
  });
});

const counts = ({ passed, failed, skipped }) => [passed, failed, skipped];

describe('runNode', () => {
  const askPriority = (options) =>
    runNode(['-e', 'setTimeout(() => console.log(os.getPriority()), 200)'], {
      cwd: root,
      seconds: 60,
      ...options,
    });

  it('gives a program the priority that it is to have, and else its own', async () => {
    expect((await askPriority({ priority: lowestPriority })).output).toBe('19\n');
    expect((await askPriority({})).output).toBe(`${os.getPriority()}\n`);
  });
});

describe('listNodeFiles', { tags: ['long'] }, () => {
  it('counts tests, not suites', async () => {
    const body = `describe('s', () => { it('a', () => {}); it('b', () => {}); }); it('c', () => {});`;
    expect(counts(await runBody(body))).toEqual([3, 0, 0]);
  });

  it('counts what failed and what was skipped, and shows what was said', async () => {
    const result = await runBody(
      `it('a', () => {}); it('b', () => { throw new Error('the room is empty'); }); it.skip('c', () => {}); it.todo('d');`,
    );
    expect(counts(result)).toEqual([1, 1, 2]);
    expect(result.output).toContain('the room is empty');
    expect(printed.join('\n')).toContain('the room is empty');
  });

  it.each([
    [
      'a hook that fails',
      `describe('s', () => { before(() => { throw new Error('x'); }); it('a', () => {}); });`,
    ],
    ['an error while loading', `throw new Error('x');`],
    ['an error after the tests', `it('a', () => {}); setTimeout(() => { throw new Error('x'); }, 20);`],
    ['an exit code of its own', `it('a', () => {}); process.on('exit', () => { process.exitCode = 3; });`],
    ['a signal', `it('a', () => { process.kill(process.pid, 'SIGKILL'); });`],
    ['a file without tests', ''],
    ['a file that is not compiled', undefined],
  ])('counts %s as a failure', async (_what, body) => {
    expect((await runBody(body)).failed).toBeGreaterThan(0);
  });

  it('names each test that failed, with its error', async () => {
    const { failures } = await runBody(
      `it('a', () => { throw new Error('the room is empty'); }); it('b', () => {});`,
    );
    expect(failures).toEqual([{ test: 'a', message: 'the room is empty' }]);
  });

  it('ends a file that does not end, with all its children, and counts that', async () => {
    const child = `require('node:child_process').spawn('sleep', ['1000'], { stdio: 'ignore' });`;
    const result = await runBody(`${child} it('a', () => {}); setInterval(() => {}, 1000);`, { seconds: 1 });
    expect(counts(result)).toEqual([1, 1, 0]);
    expect(result.output).toContain('did not end within 1 s');
    await expect.poll(() => findProcesses(`PODWIRE_RUNNER_TEST=${process.pid}`)).toEqual([]);
  });

  it('does not wait for a process that a test left, and findProcesses finds it', async () => {
    const child = `const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' }); child.unref();`;
    expect(counts(await runBody(`${child} it('a', () => {});`))).toEqual([1, 0, 0]);
    const found = findProcesses(`PODWIRE_RUNNER_TEST=${process.pid}`);
    expect(found).toHaveLength(1);
    process.kill(Number(found[0]), 'SIGKILL');
  });

  it('runs only the tests that match, and counts the others in no way', async () => {
    const body = `it('red', () => {}); it('blue', () => { throw new Error('x'); }); describe('s', () => { it('red too', () => {}); });`;
    expect(counts(await runBody(body, { grep: 'red' }))).toEqual([2, 0, 0]);
    expect(await runBody(body, { grep: 'green' })).toBeUndefined();
  });
});

describe('files that fail and pass alone', () => {
  const result = (name, failed, message = 'no answer') => ({
    ...{
      phase: 'ns',
      name: `test/${name}.ns.test.ts`,
      passed: 1,
      failed,
      skipped: 0,
      seconds: 1,
      output: '',
    },
    failures: failed === 0 ? [] : [{ test: 'walks', message }],
  });
  const passing = (first) => Promise.resolve({ ...first, failed: 0, failures: [] });

  it('runs again what failed, and nothing else', async () => {
    const asked = [];
    const lint = { ...result('x', 1), phase: 'lint', name: 'eslint' };
    const results = [result('a', 0), result('b', 1), lint];
    const again = await runFailedAgain(results, (first) => {
      asked.push(first.name);
      return passing(first);
    });
    expect(asked).toEqual(['test/b.ns.test.ts']);
    expect(again.map(({ failed }) => failed)).toEqual([0, 0, 1]);
    expect(again[1].flaky).toBe(results[1]);
  });

  it('counts as failed what fails again, and what has no tests then', async () => {
    const results = [result('a', 1), result('b', 1)];
    const seconds = [result('a', 1, 'worse'), { ...result('b', 0), passed: 0 }];
    expect(await runFailedAgain(results, () => Promise.resolve(seconds.shift()))).toEqual(results);
  });

  it('lists them with their first failure, before the counts', async () => {
    showSummary(await runFailedAgain([result('a', 1, 'no answer\nfrom 10.0.0.1')], passing));
    const header = printed.indexOf('\nFlaky (passed alone):');
    expect(printed[header + 1]).toBe('  test/a.ns.test.ts\n    walks: no answer');
    expect(printed.at(-1)).toBe('\n1 passed, 0 failed');
  });

  it.each([
    ['one', ['no answer'], []],
    ['two kinds', ['no answer', 'ended with exit code 13'], []],
    ['three kinds', ['no answer', 'not there', 'too late'], ['3 files are flaky; more than 2 are a red run']],
    [
      'one kind twice',
      ["no answer from 10.0.0.1 within 5 s to 'x'", "no answer from fd00::2 within 17 s to 'y z'"],
      ['more than one file is flaky with one kind of failure: no answer from … within … s to …'],
    ],
  ])('takes %s as the limit says', async (_what, messages, faults) => {
    const results = messages.map((message, index) => result(`f${index}`, 1, message));
    const again = await runFailedAgain(results, passing);
    expect(limitFlaky(again).map(({ failed, output }) => [failed, output])).toEqual(
      faults.map((text) => [1, text]),
    );
  });

  it('describes a file that failed without a test', () => {
    expect(describeFailure({ failures: [{ message: 'ended with exit code 3\nmore' }] })).toBe(
      'ended with exit code 3',
    );
    expect(kindOf({})).toBe('no message');
    const message = 'Expected values to be strictly equal:\n\n1 !== 2';
    expect(kindOf({ failures: [{ test: 'walks', message }] })).toBe(
      'walks: Expected values to be strictly equal:',
    );
  });
});

describe('repeat', () => {
  it('runs in turns beside a load that ends with it, and counts failures by file and kind', async () => {
    const outcomes = [undefined, 'late by 3 ms', 'late by 4 ms', 'gone'];
    let turn = 0;
    let processes;
    const runs = await repeat(4, 1, () => {
      processes ??= findLoops();
      const message = outcomes[turn++];
      const failures = message === undefined ? [] : [{ test: 'walks', message }];
      return Promise.resolve([{ name: 'a', failed: failures.length, failures }]);
    });
    expect(ratesOf(runs)).toEqual([
      { name: 'a', turns: 4, failed: 3, firsts: ['walks: late by 3 ms', 'walks: gone'] },
    ]);
    expect(processes).toHaveLength(1);
    await expect.poll(findLoops).toEqual([]);
  });

  /** Busy loops among the children of this process. */
  const findLoops = () =>
    fs
      .readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
      .split(' ')
      .filter((pid) => pid !== '' && fs.existsSync(`/proc/${pid}/cmdline`))
      .filter((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('for (;;);'));
});

describe('showSummary', () => {
  const result = {
    phase: 'unit',
    name: 'a.test.ts',
    passed: 2,
    failed: 0,
    skipped: 0,
    seconds: 1,
    output: '',
  };

  it('ends with the counts alone', () => {
    showSummary([result, { ...result, phase: 'ns', name: 'b.ns.test.ts', failed: 1, skipped: 3 }]);
    expect(printed.at(-1)).toBe('\n4 passed, 1 failed, 3 skipped');
    expect(printed.join('\n')).toContain('Failed: b.ns.test.ts');
  });

  it('tells once more why a file failed, briefly, after the table', () => {
    const noise = 'noise\n'.repeat(100);
    const gathered = `${noise}✖ failing tests:\n\n✖ walks\n  Error: the room is empty\n${'  at x\n'.repeat(100)}`;
    showSummary([
      { ...result, phase: 'ns', name: 'b.ns.test.ts', failed: 1, output: gathered },
      { ...result, phase: 'ns', name: 'c.ns.test.ts', failed: 1, output: `${noise}was killed` },
    ]);
    const [why, andWhy] = ['b', 'c'].map((name) => printed.indexOf(`\n✗ ${name}.ns.test.ts`));
    expect(printed[why + 1]).toContain('✖ walks');
    expect(printed[why + 1]).toContain('the room is empty');
    expect(printed[why + 1]).not.toContain('noise');
    expect(printed[why + 1].split('\n').length).toBeLessThan(50);
    expect(printed[andWhy + 1]).toContain('was killed');
  });

  it('says nothing of skipped tests where there are none', () => {
    expect(countsOf(result)).toBe('2 passed, 0 failed');
  });

  it('says when nothing ran', () => {
    showSummary([]);
    expect(printed.join('\n')).toContain('No test ran.');
    expect(printed.at(-1)).toBe('\n0 passed, 0 failed');
  });
});

describe('the look at the machine', () => {
  const state = (...lines) => ({ network: [['ip link', lines]], namespaces: [] });

  it('names what came and what went', () => {
    expect(compareNetwork(state('lo', 'eth0'), state('lo', 'pw0'))).toEqual([
      '- ip link: eth0',
      '+ ip link: pw0',
    ]);
    expect(compareNetwork(state('lo'), state('lo'))).toEqual([]);
  });

  it('takes namespaces for left behind unless the process in their name lives', async () => {
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('close', resolve));
    vi.spyOn(fs, 'existsSync').mockImplementation(
      (file) => file === '/run/netns' || file === `/proc/${process.pid}`,
    );
    vi.spyOn(fs, 'readdirSync').mockReturnValue(['old', `pw-${process.pid}-a`, `pw-${gone.pid}-b`, 'plain']);
    expect(leftNamespaces({ namespaces: ['old'] })).toEqual([`pw-${gone.pid}-b`, 'plain']);
  });
});

describe('findRepositoryFaults', () => {
  const json = (file, value) => write(file, JSON.stringify(value));
  const lay = () => {
    json('package.json', { name: 'w', workspaces: ['packages/a', 'packages/n/b'] });
    json('packages/a/package.json', {
      name: '@x/a',
      private: true,
      dependencies: { '@x/b': '1', zod: '4' },
    });
    json('packages/n/b/package.json', { name: '@x/b', private: true });
    json('packages/a/tsconfig.json', { references: [{ path: '../n/b' }] });
    json('packages/n/b/tsconfig.json', {});
    const projects = [
      'packages/a',
      'packages/a/tsconfig.test.json',
      'packages/n/b',
      'packages/n/b/tsconfig.test.json',
    ];
    json('tsconfig.json', { references: projects.map((place) => ({ path: place })) });
    const packages = {
      '': {},
      'packages/a': { dependencies: { zod: '4', '@x/b': '1' } },
      'packages/n/b': {},
    };
    json('package-lock.json', { packages });
    write(
      'packages/a/src/index.ts',
      `import fs from 'node:fs';\nimport { z } from 'zod/v4';\nexport * from '@x/b';\nimport './c.js';\n`,
    );
    write('packages/n/b/src/index.ts', '');
  };

  it('finds none where all lists agree', () => {
    lay();
    expect(findRepositoryFaults(root)).toEqual([]);
  });

  it.each([
    [
      'a lock file that is behind',
      () => json('packages/n/b/package.json', { name: '@x/b', dependencies: { yaml: '2' } }),
      /package-lock.json is behind the dependencies of packages\/n\/b/,
    ],
    [
      'a package that is no workspace',
      () => json('package.json', { name: 'w', workspaces: ['packages/a'] }),
      /packages\/n\/b is no workspace/,
    ],
    [
      'a project that is not built',
      () => json('tsconfig.json', { references: [] }),
      /packages\/a is not in tsconfig.json/,
    ],
    ['a missing reference', () => json('packages/a/tsconfig.json', {}), /no reference to packages\/n\/b/],
    [
      'an import that is not declared',
      () => write('packages/n/b/src/more.ts', `export const load = () => import('@y/z/deep');`),
      /does not declare @y\/z/,
    ],
    [
      'a published package that leaves out its changelog',
      () => json('packages/n/b/package.json', { name: '@x/b', files: ['src'] }),
      /packages\/n\/b\/package.json does not list CHANGELOG.md/,
    ],
    [
      'a test that replaces a module for the tests after it',
      () => write('packages/a/test/deep/x.test.ts', `vi.mock('lmdb');`),
      /packages\/a\/test\/deep\/x.test.ts calls vi.mock/,
    ],
  ])('finds %s', (_what, damage, message) => {
    lay();
    damage();
    expect(findRepositoryFaults(root).join('\n')).toMatch(message);
  });
});

describe('findCommandFaults', () => {
  const lay = (block) => {
    write('package.json', JSON.stringify({ scripts: { lint: 'x' } }));
    write('CONTRIBUTING.md', `# C\n\n\`\`\`sh\n${block}\n\`\`\`\n`);
  };

  it('reads the program, its parameters and the mark of each command', () => {
    const text = "```sh\nsudo A=1 x\nnode x.mjs 'two words'   # [root] why\n```\n";
    expect(readCommands(text).map(({ words, mark }) => [words, mark])).toEqual([
      [['A=1', 'x'], undefined],
      [['node', 'x.mjs', 'two words'], 'root'],
    ]);
  });

  it('executes what has no mark', () => {
    write('good.mjs', '');
    write('bad.mjs', 'process.exitCode = 3;');
    lay('node good.mjs');
    expect(findCommandFaults(root)).toEqual([]);
    lay('node bad.mjs');
    expect(findCommandFaults(root).join()).toMatch(/exit code 3/);
  });

  it('only looks whether marked commands exist', () => {
    lay('sudo npm run lint   # [root] all');
    expect(findCommandFaults(root)).toEqual([]);
    lay('npm run gone   # [minutes] all');
    expect(findCommandFaults(root).join()).toMatch(/does not exist/);
    lay('npm run lint   # [new] all');
    expect(findCommandFaults(root).join()).toMatch(/unknown mark/);
  });
});

describe('programs that are bundled for tests', () => {
  it.each(programs)('%s is there', (file) => {
    expect(fs.existsSync(path.join(import.meta.dirname, '../..', file))).toBe(true);
  });
});
