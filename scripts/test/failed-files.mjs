/** Reporter of vitest: a line for each file as soon as it has failed, as the other phases print it. */
import path from 'node:path';

export default class FailedFiles {
  onTestModuleEnd(module) {
    if (module.ok()) return;
    const count = (state) => [...module.children.allTests(state)].length;
    const name = path.relative(process.cwd(), module.moduleId);
    // A file that cannot be loaded has no tests.
    console.log(`✗ ${name}  ${count('passed')} passed, ${Math.max(1, count('failed'))} failed`);
  }
}
