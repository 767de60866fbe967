import { describe, expect, test } from 'vitest';
import type { PluginExit } from '../../src/index.js';
import { pluginFailure } from '../../src/exec/outcome.js';

const source = { plugin: 'bridge', command: 'ADD' } as const;
const failure = (exit: Partial<PluginExit>) =>
  pluginFailure(source, { code: 1, signal: null, stdout: '', stderr: '', ...exit });

test('exit status 0 is no failure, whatever was printed', () => {
  expect(failure({ code: 0, stdout: '{"code":7,"msg":"x"}', stderr: 'x' })).toBeUndefined();
});

describe('a failure says what there is to say', () => {
  test.each([
    [{ stdout: '{"cniVersion":"1.0.0","code":11,"msg":"busy","details":"d"}', stderr: 's' }, 11, 'busy', 'd'],
    [{ stdout: '{"code":11,"msg":"busy"}', stderr: 'log\n' }, 11, 'busy', 'standard error: log'],
    [{ stdout: '{"code":11,"msg":"busy"}' }, 11, 'busy', undefined],
    [{ code: 3, stderr: 'cannot open\n' }, 999, 'exit status 3: cannot open', 'standard error: cannot open'],
    [{ code: 3 }, 999, 'exit status 3, no error message', undefined],
    [{ code: null, signal: 'SIGSEGV' }, 999, 'killed by SIGSEGV, no error message', undefined],
    [{ code: null, signal: 'SIGKILL', stderr: 'x' }, 999, 'killed by SIGKILL: x', 'standard error: x'],
    [{ stdout: 'panic!' }, 999, 'exit status 1, and what it printed is no error object: "panic!"', undefined],
    [
      { stdout: '{"ips":[]}' },
      999,
      'exit status 1, and what it printed is no error object: "{\\"ips\\":[]}"',
      undefined,
    ],
  ])('%j', (exit, code, said, details) => {
    expect(failure(exit)).toMatchObject({
      code,
      details,
      pluginMessage: said,
      message: `plugin bridge failed to ADD: ${said}`,
      stderr: 'stderr' in exit ? exit.stderr : '',
    });
  });
  test('a STATUS is handed on without a prefix', () => {
    const exit = { code: 1, signal: null, stdout: '{"code":50,"msg":"down"}', stderr: '' };
    expect(pluginFailure({ plugin: 'x', command: 'STATUS' }, exit)).toMatchObject({
      message: 'down',
      code: 50,
    });
  });
  test('floods are cut', () => {
    expect(failure({ stderr: 'x'.repeat(5000) })?.message.length).toBeLessThan(1100);
  });
});
