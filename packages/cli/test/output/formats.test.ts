/** `-o` of a whole command line. */
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type FakeAgent, run, startFakeAgent, writeTemporary } from '../support.js';

let agent: FakeAgent | undefined;
afterEach(async () => {
  await agent?.close();
  agent = undefined;
});

const peers = [
  { name: 'n2', ipv4: '192.0.2.2/24', mtu: 1500, blocks: ['10.0.1.0/26'], resources: 1, problems: [] },
  { name: 'n3', ipv6: '2001:db8::3/64', blocks: [], resources: 0, problems: ['MTU_MISMATCH: too large'] },
];

async function ask(...argv: string[]) {
  agent = await startFakeAgent({ 'GET /v1/peers': { body: { peers } } });
  return run(['peers', '--socket', agent.socket, ...argv]);
}

describe('output formats', () => {
  test('yaml has the same data as json', async () => {
    const { stdout } = await ask('-o', 'yaml');
    expect(parse(stdout)).toEqual({ peers });
    expect(stdout).toMatch(/^peers:\n {2}- name: n2\n/);
  });

  test('jsonpath takes a template, also from a file', async () => {
    expect(await ask('-o', 'jsonpath={.peers[*].name}')).toMatchObject({ code: 0, stdout: 'n2 n3' });
    const file = writeTemporary('names.txt', String.raw`{range .peers[*]}{.name}{"\n"}{end}` + '\n');
    const argv = ['peers', '--socket', agent!.socket, `--output=jsonpath-file=${file}`];
    expect((await run(argv)).stdout).toBe('n2\nn3\n');
    const onTerminal = await run(['-o', 'jsonpath={.peers[0].name}', ...argv.slice(0, 3)], {
      terminal: true,
    });
    expect(onTerminal.stdout).toBe('n2\n');
  });

  test.each([
    ['jsonpath={.peers[}', /expected a number.* at character 9/],
    ['jsonpath=', /Allowed choices are text, wide, name, json, yaml, jsonpath=…, jsonpath-file=…/],
    ['jsonpath-file=/does/not/exist', /ENOENT/],
    ['xml', /Allowed choices are/],
  ])('-o %s is refused as a wrong command line', async (format, message) => {
    const { code, stdout, stderr } = await run(['peers', '--socket', '/nonexistent', '-o', format]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('a format given before a command that has not got it is refused', async () => {
    const { code, stderr } = await run(['-o', 'name', 'status', '--socket', '/nonexistent']);
    expect(code).toBe(2);
    expect(stderr).toContain('this command has no output format name');
  });

  test('an error is a document in yaml too, and words with a template', async () => {
    const failed = await run(['peers', '--socket', '/nonexistent/x.sock', '-o', 'yaml']);
    expect(failed.code).toBe(3);
    expect(parse(failed.stdout)).toMatchObject({ error: { code: 'AGENT_UNREACHABLE' } });
    const template = await run(['peers', '--socket', '/nonexistent/x.sock', '-o', 'jsonpath={.peers}']);
    expect(template).toMatchObject({ code: 3, stdout: '' });
    expect(template.stderr).toContain('AGENT_UNREACHABLE');
  });
});
