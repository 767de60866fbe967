/** The page in a real browser, with a real pod behind it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createPrivateHost, type PrivateHost, type RunningProcess, start } from '@podwire/testkit';
import { type Browser, chromium, type Page } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../../../..');
const podwire = [process.execPath, path.join(root, 'bin/podwire')];
/** Milliseconds: a busy machine draws slowly. */
const patience = 30_000;

let host: PrivateHost;
let server: RunningProcess;
let browser: Browser;
let page: Page;
let url: string;
const complaints: string[] = [];
const env = (): Record<string, string> => ({ PODWIRE_DIRECTORY: path.join(host.directory, 'pods') });
const inHost = (...argv: string[]): Promise<string> =>
  host.run([...podwire, ...argv], { env: env(), timeout: 60_000 });

before(async () => {
  host = await createPrivateHost({ name: 'dash', world: true });
  await inHost('up', path.join(root, 'examples/web.yaml'));
  // A socket is a file: the server needs nothing of the host's network, and the browser reaches it on loopback.
  server = start([...podwire, 'dashboard', '-o', 'json'], {
    env: { ...process.env, ...env() },
  });
  await server.waitForOutput(/"url": "[^"]+"/);
  url = /"url": "([^"]+)"/.exec(server.stdout())![1]!;
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args, timeout: 60_000 });
  page = await openPage(url);
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await inHost('down');
  assert.deepEqual(host.processes(), []);
  await host.close();
});

async function openPage(address: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  const opened = await context.newPage();
  opened.setDefaultTimeout(patience);
  opened.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  opened.on('pageerror', (error) => complaints.push(error.message));
  await opened.goto(address);
  return opened;
}

const focused = (): Promise<string> => page.evaluate('document.activeElement?.textContent?.trim() ?? ""');
const waitForText = (selector: string, text: string | RegExp): Promise<void> =>
  page.locator(selector).filter({ hasText: text }).first().waitFor();

async function findBarriers(): Promise<string[]> {
  await page.evaluate(fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    'axe.run()',
  );
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

describe('the page', () => {
  test('shows the pod, and the token is not in the address any more', async () => {
    await waitForText('.tile', /Pods\s*1\s*of 1/);
    assert.equal(new URL(page.url()).search, '');
    await page.keyboard.press('2');
    await waitForText('tr.opens', /shop\/web[^]*Running[^]*1\/1/);
    assert.deepEqual(await findBarriers(), []);
  });

  test('a click opens the path of the pod, as the kernel has it', async () => {
    await page.click('text=shop/web');
    await waitForText('.path li', /eth0[^]*10\.\d+\.\d+\.\d+/);
    await waitForText('.path li', /cali[0-9a-f]+[^]*port 8080 → 80/);
    await page.click('#tab-kernel');
    await waitForText('.summary', /all \d+ are in the kernel as planned/);
    assert.deepEqual(await findBarriers(), []);
  });

  test('the trace is a waterfall from the manifest to the resources, and a step fills it', async () => {
    await page.click('#tab-trace');
    await waitForText('.spanRow', 'agent ADD');
    // The length of the trace decides how many ticks have round values: two at least.
    assert.ok((await page.locator('.ticks text').count()) >= 2);
    const whole = await page.locator('.spanRow').count();
    assert.ok(whole > 10, `${whole} rows`);
    await page.click('.spanRow button:has-text("agent ADD")');
    await waitForText('.waterfallHead', 'in agent ADD');
    assert.ok((await page.locator('.spanRow').count()) < whole);
    await page.click('text=the whole trace');
    await page.click('#tab-events');
    await waitForText('.events li', 'Started');
  });

  test('what another program removes and the agent repairs is drift of the pod', async () => {
    const address = (await page.locator('tr.opens .address').first().textContent()) ?? '';
    await host.namespace.ip(`route del ${address}/32`);
    await inHost('reconcile');
    await page.keyboard.press('Escape');
    await page.keyboard.press('6');
    await waitForText('tr', new RegExp(`route ${address}/32[^]*repaired[^]*shop/web`));
    assert.deepEqual(await findBarriers(), []);
  });

  test('everything can be done with the keyboard', async () => {
    await page.keyboard.press('2');
    await page.locator('tr.opens').waitFor();
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'shop/web');
    await page.keyboard.press('Enter');
    await page.locator('.detail').waitFor();
    await page.waitForFunction('document.activeElement?.tagName === "H2"');
    await page.locator('#tab-events').focus();
    await page.keyboard.press('ArrowRight');
    await waitForText('[role=tab][aria-selected=true]', 'Path');
    await page.keyboard.press('Escape');
    await page.locator('.detail').waitFor({ state: 'detached' });
    assert.equal(await focused(), 'shop/web');
    await page.keyboard.press('/');
    await page.keyboard.type('nothing at all');
    await waitForText('.empty', 'No pod matches');
    await page.keyboard.press('Escape');
    await page.locator('tr.opens').waitFor();
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  });

  test('is dark with a dark system, until the switch; and can be read there', async () => {
    const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    assert.notEqual(dark, light);
    for (const section of ['1', '2', '3', '4', '5', '6']) {
      await page.keyboard.press(section);
      assert.deepEqual(await findBarriers(), [], `section ${section}`);
    }
    await page.keyboard.press('t');
    assert.equal(await ground(), light);
  });

  test('fits a telephone and a wide screen', async () => {
    for (const width of [400, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      for (const section of ['1', '2', '3', '4', '5', '6']) {
        await page.keyboard.press(section);
        assert.equal(
          await page.evaluate('document.documentElement.scrollWidth'),
          width,
          `section ${section}`,
        );
      }
    }
  });

  test('health needs no token, data do', async () => {
    assert.equal((await fetch(new URL('/healthz', url))).status, 200);
    assert.equal((await fetch(new URL('/api/view', url))).status, 401);
    const headers = { authorization: `Bearer ${new URL(url).searchParams.get('token')}` };
    const view = (await (await fetch(new URL('/api/view', url), { headers })).json()) as {
      pods: { name: string }[];
    };
    assert.deepEqual(
      view.pods.map(({ name }) => name),
      ['web'],
    );
  });

  test('a browser without the token is told where to get it', async () => {
    assert.deepEqual(complaints.splice(0), []);
    const stranger = await openPage(new URL('/', url).href);
    await stranger.locator('text=open the URL that').waitFor();
    // The refusal, and nothing else, is on its console.
    assert.equal(complaints.splice(0).filter((text) => !text.includes('401')).length, 0);
  });
});
