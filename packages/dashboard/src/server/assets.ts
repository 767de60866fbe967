/** The files of the page, all read at the start: what is asked for is a name in this list or is not there. */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The modules of lit-html that the page imports. */
const library = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** By path: `/`, `/style.css`, `/page/main.js`, `/lit-html/lit-html.js` … */
export function loadAssets(packageDirectory: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const own = path.join(packageDirectory, 'assets');
  for (const file of fs.readdirSync(own)) assets.set(`/${file}`, readAsset(path.join(own, file)));
  assets.set('/', assets.get('/index.html')!);
  const page = path.join(packageDirectory, 'dist/page');
  for (const file of listScripts(page)) assets.set(`/page/${file}`, readAsset(path.join(page, file)));
  const lit = findLibrary();
  for (const file of library) assets.set(`/lit-html/${file}`, readAsset(path.join(lit, file)));
  return assets;
}

/** Node resolves to a variant for servers, in a directory below. */
function findLibrary(): string {
  let at = createRequire(import.meta.url).resolve('lit-html');
  while (path.basename(at) !== 'lit-html') at = path.dirname(at);
  return at;
}

function listScripts(directory: string): string[] {
  const all = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return all.filter((file) => file.endsWith('.js'));
}

function readAsset(file: string): Asset {
  const extension = path.extname(file);
  const type = types[extension] ?? 'application/octet-stream';
  const content = fs.readFileSync(file);
  return { type, content: extension === '.js' ? locateLibrary(content) : content };
}

/** A browser has no node_modules: `lit-html/x.js` is `/lit-html/x.js` there. */
function locateLibrary(script: Buffer): Buffer {
  const text = script
    .toString('utf8')
    .replaceAll(/(\bfrom\s*)(['"])lit-html\2/g, '$1$2/lit-html/lit-html.js$2')
    .replaceAll(/(\bfrom\s*)(['"])lit-html\//g, '$1$2/lit-html/')
    .replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
  return Buffer.from(text);
}
