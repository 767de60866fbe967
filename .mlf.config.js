import tseslint from 'typescript-eslint';
export default [{ ignores: ['**/dist/**','**/generated/**','**/node_modules/**'] },{ files: ['**/*.ts'], languageOptions: { parser: tseslint.parser }, plugins:{'@typescript-eslint':tseslint.plugin}, rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] } }];
