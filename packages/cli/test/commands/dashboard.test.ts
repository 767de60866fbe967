import { expect, test } from 'vitest';
import { run } from '../support.js';

test.each([
  [['--port', '65536'], /from 0 to 65535/],
  [['--port', '80x'], /from 0 to 65535/],
  [['--listen', 'everywhere'], /must be an IP address/],
] as const)('dashboard %j is refused before anything is served', async (argv, message) => {
  const { code, stderr } = await run(['dashboard', ...argv]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
