import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { catalog } from '../src/catalog.js';
import { run } from './support.js';

const script = async (shell: string): Promise<string> => (await run(['completion', shell])).stdout;

/** What bash offers when the cursor stands behind the last word. */
function complete(bash: string, words: readonly string[], pods = ''): string[] {
  const program = `podwire() { printf '%s\\n' ${pods}; }
${bash}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_podwire
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8' }).trim().split('\n');
}

describe('completion', () => {
  test('bash offers commands, sub-commands, options and their words', async () => {
    const bash = await script('bash');
    expect(complete(bash, ['podwire', ''])).toEqual(expect.arrayContaining(catalog.map(({ name }) => name)));
    expect(complete(bash, ['podwire', 'pl'])).toEqual(['plan']);
    expect(complete(bash, ['podwire', 'ipam', 's'])).toEqual(['show', 'split']);
    expect(complete(bash, ['podwire', 'ipam', 'show', '--i'])).toEqual(['--ip']);
    expect(complete(bash, ['podwire', 'pods', '-o', ''])).toEqual([
      ...['text', 'wide', 'name', 'json', 'yaml', 'jsonpath=', 'jsonpath-file='],
    ]);
    expect(complete(bash, ['podwire', '--socket', '/x', 'status', '--w'])).toEqual(['--wait']);
    expect(complete(bash, ['podwire', 'cni', 'a'])).toEqual(['add']);
    expect(complete(bash, ['podwire', 'completion', 'z'])).toEqual(['zsh']);
    expect(complete(bash, ['podwire', 'plan', 'examples/w'])).toEqual(['examples/web.yaml']);
    expect(complete(bash, ['podwire', 'config', 'validate', 'package.j'])).toEqual(['package.json']);
  });

  test('bash asks for the names of pods', async () => {
    const bash = await script('bash');
    const pods = 'pod/shop/web pod/shop/api';
    expect(complete(bash, ['podwire', 'explain', ''], pods)).toEqual([
      'node',
      'pod/shop/web',
      'pod/shop/api',
    ]);
    expect(complete(bash, ['podwire', 'trace', 'pod/shop/w'], pods)).toEqual(['pod/shop/web']);
  });

  test('zsh and fish know every command and every option of bash', async () => {
    const [bash, zsh, fish] = await Promise.all(['bash', 'zsh', 'fish'].map(script));
    const options = new Set([...bash!.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option!));
    expect(options.size).toBeGreaterThan(20);
    for (const option of options) {
      expect(zsh).toContain(option);
      expect(fish).toContain(`-l ${option.slice(2)}`);
    }
    for (const { name } of catalog) {
      expect(zsh).toContain(`'${name}:`);
      expect(fish).toContain(`-a '${name}'`);
    }
    expect(zsh).toMatch(/^#compdef podwire\n/);
  });

  test('quotes in descriptions do not end the quoting', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      for (const line of (await script(shell)).split('\n')) expect(line.split("'").length % 2).toBe(1);
    }
  });
});
