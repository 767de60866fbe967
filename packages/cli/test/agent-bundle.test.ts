import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeInputs, isBundleCurrent, loadAgentBundle, writeCodeCache } from '../src/agent-bundle.js';

let checkout: string;
let directory: string;

const input = 'packages/agent/dist/src/agent.js';
const at = (file: string): string => path.join(checkout, file);
const code = `
const { sep } = require('node:path');
let calls = 0;
exports.runMain = async (argv) => argv.length + (sep === '/' ? 10 : 0) + calls;
exports.prepare = async () => void (calls += 1);
`;

beforeEach(() => {
  checkout = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-bundle-'));
  directory = at('packages/cli/dist/agent');
  fs.mkdirSync(path.dirname(at(input)), { recursive: true });
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(at(input), 'export {};');
  fs.writeFileSync(path.join(directory, 'agent.cjs'), code);
  fs.writeFileSync(path.join(directory, 'agent.json'), JSON.stringify(describeInputs(checkout, [input])));
});

afterEach(() => fs.rmSync(checkout, { recursive: true }));

describe('the bundle of the agent', () => {
  it('runs when what it is made of is unchanged', async () => {
    expect(await loadAgentBundle(directory, checkout)?.runMain(['agent'])).toBe(11);
  });

  it('runs with the code that V8 has compiled from it', async () => {
    await writeCodeCache(directory);
    expect(fs.readdirSync(directory)).toContain('agent.cache');
    expect(await loadAgentBundle(directory, checkout)?.runMain(['agent'])).toBe(11);
  });

  it('runs with compiled code that V8 does not take', async () => {
    fs.writeFileSync(path.join(directory, 'agent.cache'), 'of another version');
    expect(await loadAgentBundle(directory, checkout)?.runMain([])).toBe(10);
  });

  it('is not used when a file has changed since', () => {
    fs.writeFileSync(at(input), 'export const changed = true;');
    expect(isBundleCurrent(directory, checkout)).toBe(false);
    expect(loadAgentBundle(directory, checkout)).toBeUndefined();
  });

  it('is not used when a file was written again with the same length', () => {
    fs.utimesSync(at(input), 1, 1);
    expect(isBundleCurrent(directory, checkout)).toBe(false);
  });

  it('is not used when a file is gone, or the checkout has moved', () => {
    fs.rmSync(at(input));
    expect(isBundleCurrent(directory, checkout)).toBe(false);
    expect(isBundleCurrent(directory, `${checkout}/elsewhere`)).toBe(false);
  });

  it('is not used when there is none', () => {
    expect(loadAgentBundle(at('nowhere'), checkout)).toBeUndefined();
  });
});
