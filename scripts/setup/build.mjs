import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { runOrFail } from './run.mjs';

/** All projects but those of tests, as tsconfig.json lists them. */
function sourceProjects(root) {
  const { references } = JSON.parse(fs.readFileSync(path.join(root, 'tsconfig.json'), 'utf8'));
  const isOfTests = (project) => /^test(\/|$)|tsconfig\.test\.json$/.test(project);
  return references.map((reference) => reference.path).filter((project) => !isOfTests(project));
}

/** Compiles what has changed; TypeScript itself knows what that is. Tests only where they are going to be run. */
export async function compileTypeScript(root, { withTests }, begin) {
  const first = !fs.existsSync(path.join(root, 'packages/cli/dist'));
  if (first) begin('compiling all packages, this takes a while');
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const projects = withTests ? [] : sourceProjects(root);
  await runOrFail(process.execPath, [compiler, '-b', ...projects], { cwd: root, show: true });
  return first ? 'compiled' : 'up to date';
}

const SOURCES = ['podwire-cni.c', 'podwire-cni.ts', 'openshift-sdn.ts', 'scan.ts', 'streams.ts', 'build.ts'];

/** Inputs of the built plugin, as one text. */
function fingerprint(plugin, compiler, version) {
  const hash = createHash('sha256').update(JSON.stringify([compiler, version]));
  for (const name of SOURCES) hash.update(fs.readFileSync(path.join(plugin, name)));
  return hash.digest('hex');
}

/**
 * Writes bin/podwire-cni.js, and bin/podwire-cni as a static program where a compiler is, else as a copy of the twin; and
 * bin/openshift-sdn.
 */
export async function buildPlugin(root, begin) {
  const plugin = path.join(root, 'plugin');
  const { bundleOpenshift, bundleTwin, compileProgram, findCompilers } = await import(
    path.join(plugin, 'dist/build.js')
  );
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [compiler] = await findCompilers();
  const names = ['bin/podwire-cni', 'bin/podwire-cni.js', 'bin/openshift-sdn'];
  const [program, twin, openshift] = names.map((name) => path.join(root, name));
  const stamp = path.join(plugin, 'dist/built');
  const wanted = fingerprint(plugin, compiler, version);
  const kind = compiler ? `static program, ${compiler.libc}` : 'JavaScript, as there is no C compiler';
  const isBuilt = [program, twin, openshift, stamp].every((file) => fs.existsSync(file));
  if (isBuilt && fs.readFileSync(stamp, 'utf8') === wanted) return `up to date (${kind})`;
  begin(compiler ? `compiling with ${compiler.program}` : 'bundling');
  await bundleTwin({ sources: plugin, output: twin, version });
  await bundleOpenshift({ sources: plugin, output: openshift });
  if (compiler) await compileProgram(compiler, { sources: plugin, output: program, version });
  else await bundleTwin({ sources: plugin, output: program, version });
  fs.writeFileSync(stamp, wanted);
  return `built (${kind})`;
}

/** Writes bin/podwire-hold, without which pods run on a container engine only. */
export async function buildHold(root) {
  const native = await import(path.join(root, 'packages/cri-native/native/build.mjs'));
  const outcome = await native.buildHold(path.join(root, 'bin/podwire-hold'));
  return outcome === 'absent' ? 'skipped (there is no C compiler)' : outcome;
}
