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

/** Inputs of the built plugins, as one text. */
function fingerprint(plugin, compiler, version) {
  const hash = createHash('sha256').update(JSON.stringify([compiler, version]));
  const sources = fs.readdirSync(plugin).filter((name) => /\.(c|h|ts)$/.test(name));
  for (const name of sources.sort()) hash.update(name).update(fs.readFileSync(path.join(plugin, name)));
  return hash.digest('hex');
}

/**
 * Writes each plugin: bin/NAME.js, and bin/NAME as a static program where a compiler is, else in JavaScript as well.
 */
export async function buildPlugins(root, begin) {
  const sources = path.join(root, 'plugin');
  const { bundleTwin, compileProgram, findCompilers } = await import(path.join(sources, 'dist/build.js'));
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [compiler] = await findCompilers();
  const built = ['podwire-cni', 'openshift-sdn', 'kube-ovn'].map((program) => {
    const output = path.join(root, 'bin', program);
    return { program, output, twin: `${output}.js` };
  });
  const stamp = path.join(sources, 'dist/built');
  const wanted = fingerprint(sources, compiler, version);
  const kind = compiler ? `static programs, ${compiler.libc}` : 'JavaScript, as there is no C compiler';
  const files = [...built.flatMap(({ output, twin }) => [output, twin]), stamp];
  const isBuilt = files.every((file) => fs.existsSync(file));
  if (isBuilt && fs.readFileSync(stamp, 'utf8') === wanted) return `up to date (${kind})`;
  begin(compiler ? `compiling with ${compiler.program}` : 'bundling');
  for (const { program, output, twin } of built) {
    const options = { program, sources, version, output };
    await bundleTwin({ ...options, output: twin });
    await (compiler ? compileProgram(compiler, options) : bundleTwin(options));
  }
  fs.writeFileSync(stamp, wanted);
  return `built (${kind})`;
}

/** Writes bin/podwire-hold, without which pods run on a container engine only. */
export async function buildHold(root) {
  const native = await import(path.join(root, 'packages/cri-native/native/build.mjs'));
  const outcome = await native.buildHold(path.join(root, 'bin/podwire-hold'));
  return outcome === 'absent' ? 'skipped (there is no C compiler)' : outcome;
}
